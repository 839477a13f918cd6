// Drives a server of the streaming protocol and says what it cost the server.
//
//   stream_client echo PORT PID STREAMS MESSAGES WARMUP INTERVAL_MS   each stream on a connection of its own
//   stream_client idle PORT PID STREAMS
//
// echo: every stream sends 3,200 bytes of audio and waits for the answer, MESSAGES times; with an interval it sends on time
// instead (and a late answer delays nothing but itself: the round trip counts from when the message was due).
// idle: every stream carries one context with one message and then stays open without one.
// Prints one line of JSON.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <time.h>
#include <unistd.h>

#include "speechly/slu/v1/slu.grpc.pb.h"

using speechly::slu::v1::SLU;
using speechly::slu::v1::SLURequest;
using speechly::slu::v1::SLUResponse;
using Clock = std::chrono::steady_clock;

namespace {

const char kKey[] = "benchmark-api-key-0001";
const char kApp[] = "00000000-0000-4000-8000-000000000001";

[[noreturn]] void Fail(const std::string &what) {
  std::fprintf(stderr, "stream_client: %s\n", what.c_str());
  _exit(1);
}

// Counts streams that reached a point.
class Gate {
 public:
  void Arrive() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
    condition_.notify_all();
  }
  void WaitFor(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!condition_.wait_for(lock, std::chrono::seconds(90), [&] { return count_ >= count; }))
      Fail("no answer within 90 s");
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  int count_ = 0;
};

struct Plan {
  int messages = 0;
  int warmup = 0;
  bool paced = false;
  bool stops = false;
};

class Stream : public grpc::ClientBidiReactor<SLURequest, SLUResponse> {
 public:
  Stream(int port, const Plan &plan, Gate *warm, Gate *done) : plan_(plan), warm_(warm), done_(done) {
    grpc::ChannelArguments arguments;
    // Otherwise channels to one address share a connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = SLU::NewStub(grpc::CreateCustomChannel(
        "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments));
    context_.AddMetadata("authorization", std::string("Bearer ") + kKey);
    audio_.resize(3200);
    // Not quiet, and the same every time.
    unsigned state = 1;
    for (size_t i = 0; i < audio_.size(); ++i) audio_[i] = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
    latencies_.reserve(plan.messages);
    stub_->async()->Stream(&context_, this);
    AddHold();
    StartRead(&response_);
    Write(Kind::kConfig);
    Write(Kind::kStart);
    StartCall();
  }

  // Begins the measured part.
  void Go() {
    if (!plan_.paced) Send(Clock::now());
  }

  // Sends on time.
  void SendDue(Clock::time_point due) { Send(due); }

  void OnWriteDone(bool ok) override {
    if (!ok) Fail("a write failed");
    std::lock_guard<std::mutex> lock(mutex_);
    is_writing_ = false;
    if (queue_.empty()) return;
    Kind kind = queue_.front();
    queue_.pop_front();
    StartWriting(kind);
  }

  void OnReadDone(bool ok) override {
    if (!ok) Fail("the server ended a stream");
    switch (response_.streaming_response_case()) {
      case SLUResponse::kStarted:
        if (plan_.warmup > 0) Send(Clock::now());
        else warm_->Arrive();
        break;
      case SLUResponse::kTentativeTranscript:
      case SLUResponse::kTranscript:
        if (!has_stopped_) Answered();
        break;
      case SLUResponse::kFinished:
        done_->Arrive();
        break;
      default:
        break;
    }
    response_.Clear();
    StartRead(&response_);
  }

  void OnDone(const grpc::Status &status) override { Fail("a stream ended: " + status.error_message()); }

  const std::vector<double> &latencies() const { return latencies_; }

 private:
  enum class Kind { kConfig, kStart, kAudio, kStop };

  // An answer may be read before the write that it answers is reported, and one write at a time is allowed.
  void Write(Kind kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (is_writing_) queue_.push_back(kind);
    else StartWriting(kind);
  }

  void StartWriting(Kind kind) {
    is_writing_ = true;
    switch (kind) {
      case Kind::kConfig: {
        auto *config = request_.mutable_config();
        config->set_channels(1);
        config->set_sample_rate_hertz(16000);
        config->set_language_code("en-US");
        break;
      }
      case Kind::kStart:
        request_.mutable_start()->set_app_id(kApp);
        break;
      case Kind::kAudio:
        request_.set_audio(audio_);
        break;
      case Kind::kStop:
        request_.mutable_stop();
        break;
    }
    StartWrite(&request_);
  }

  void Send(Clock::time_point due) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      dues_.push_back(due);
    }
    Write(Kind::kAudio);
  }

  void Answered() {
    auto now = Clock::now();
    Clock::time_point due;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (next_due_ >= dues_.size()) Fail("an answer without a message");
      due = dues_[next_due_++];
    }
    ++answered_;
    if (answered_ <= plan_.warmup) {
      if (answered_ < plan_.warmup) return Send(now);
      return warm_->Arrive();
    }
    latencies_.push_back(std::chrono::duration<double, std::micro>(now - due).count());
    if (answered_ < plan_.warmup + plan_.messages) {
      if (!plan_.paced) Send(now);
      return;
    }
    if (plan_.stops) {
      has_stopped_ = true;
      Write(Kind::kStop);
    } else {
      done_->Arrive();
    }
  }

  const Plan plan_;
  Gate *warm_;
  Gate *done_;
  std::unique_ptr<SLU::Stub> stub_;
  grpc::ClientContext context_;
  SLURequest request_;
  SLUResponse response_;
  std::string audio_;
  std::mutex mutex_;
  std::vector<Clock::time_point> dues_;
  size_t next_due_ = 0;
  bool is_writing_ = false;
  std::deque<Kind> queue_;
  std::vector<double> latencies_;
  int answered_ = 0;
  bool has_stopped_ = false;
};

double CpuSeconds(clockid_t clock) {
  timespec time;
  if (clock_gettime(clock, &time) != 0) Fail("the server is gone");
  return time.tv_sec + time.tv_nsec * 1e-9;
}

long StatusKilobytes(int pid, const char *key) {
  std::string path = "/proc/" + std::to_string(pid) + "/status";
  FILE *file = std::fopen(path.c_str(), "r");
  if (!file) Fail("the server is gone");
  char line[256];
  long value = -1;
  while (std::fgets(line, sizeof line, file))
    if (!std::strncmp(line, key, std::strlen(key))) value = std::atol(line + std::strlen(key));
  std::fclose(file);
  return value;
}

double Percentile(const std::vector<double> &sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * sorted.size()))];
}

void Echo(int port, int pid, int count, const Plan &plan, int interval) {
  clockid_t clock;
  if (clock_getcpuclockid(pid, &clock) != 0) Fail("no clock of the server");
  Gate warm, done;
  // Never freed: calls that are open end with the process.
  auto &streams = *new std::vector<std::unique_ptr<Stream>>;
  for (int i = 0; i < count; ++i) streams.push_back(std::make_unique<Stream>(port, plan, &warm, &done));
  warm.WaitFor(count);
  double cpu = CpuSeconds(clock);
  double own = CpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
  auto start = Clock::now();
  for (auto &stream : streams) stream->Go();
  if (plan.paced) {
    // Streams take turns within the interval, as people who start at any time do.
    for (int message = 0; message < plan.messages; ++message)
      for (int i = 0; i < count; ++i) {
        auto due = start + std::chrono::microseconds(int64_t(interval) * 1000 * (int64_t(message) * count + i) / count);
        std::this_thread::sleep_until(due);
        streams[i]->SendDue(due);
      }
  }
  done.WaitFor(count);
  double wall = std::chrono::duration<double>(Clock::now() - start).count();
  cpu = CpuSeconds(clock) - cpu;
  own = CpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - own;
  std::vector<double> all;
  for (auto &stream : streams) all.insert(all.end(), stream->latencies().begin(), stream->latencies().end());
  std::sort(all.begin(), all.end());
  double messages = double(count) * plan.messages;
  std::printf(
      "{\"streams\":%d,\"messages\":%.0f,\"cpuPerMessage\":%.3f,\"clientCPUPerMessage\":%.3f,\"p50\":%.1f,\"p95\":%.1f,"
      "\"p99\":%.1f,\"rate\":%.1f,\"cores\":%.3f}\n",
      count, messages, cpu / messages * 1e6, own / messages * 1e6, Percentile(all, 0.5), Percentile(all, 0.95),
      Percentile(all, 0.99), messages / wall, cpu / wall);
}

void Idle(int port, int pid, int count) {
  Gate warm, done;
  Plan plan;
  plan.messages = 1;
  plan.stops = true;
  // Never freed: calls that are open end with the process.
  auto &streams = *new std::vector<std::unique_ptr<Stream>>;
  auto open = [&](int total) {
    while (static_cast<int>(streams.size()) < total) {
      int until = std::min(total, static_cast<int>(streams.size()) + 50);
      size_t first = streams.size();
      while (static_cast<int>(streams.size()) < until)
        streams.push_back(std::make_unique<Stream>(port, plan, &warm, &done));
      warm.WaitFor(until);
      for (size_t i = first; i < streams.size(); ++i) streams[i]->Go();
      done.WaitFor(until);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  };
  // What the first streams cost once is no part of what each costs.
  open(50);
  long before = StatusKilobytes(pid, "VmRSS:");
  long anonymous = StatusKilobytes(pid, "RssAnon:");
  open(50 + count);
  long after = StatusKilobytes(pid, "VmRSS:");
  anonymous = StatusKilobytes(pid, "RssAnon:") - anonymous;
  clockid_t clock;
  if (clock_getcpuclockid(pid, &clock) != 0) Fail("no clock of the server");
  double cpu = CpuSeconds(clock);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  cpu = CpuSeconds(clock) - cpu;
  std::printf(
      "{\"streams\":%d,\"kilobytesPerStream\":%.2f,\"anonymousPerStream\":%.2f,\"kilobytesBefore\":%ld,\"idleCPUPerSecond\":%.4f}\n",
      count, double(after - before) / count, double(anonymous) / count, before, cpu);
}

}  // namespace

int main(int count, char **arguments) {
  alarm(150);
  std::string mode = count > 1 ? arguments[1] : "";
  auto number = [&](int index) { return std::atoi(arguments[index]); };
  if (mode == "echo" && count == 8) {
    Plan plan;
    plan.messages = number(5);
    plan.warmup = number(6);
    plan.paced = number(7) > 0;
    Echo(number(2), number(3), number(4), plan, number(7));
  } else if (mode == "idle" && count == 5) {
    Idle(number(2), number(3), number(4));
  } else {
    Fail("usage: stream_client echo PORT PID STREAMS MESSAGES WARMUP INTERVAL_MS | idle PORT PID STREAMS");
  }
  std::fflush(stdout);
  _exit(0);
}
