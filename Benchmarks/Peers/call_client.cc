// Drives a gateway for calls over plain WebSockets and measures the server process.
//
//   call_client calls PORT PID PAIRS CALLS WARMUP   pairs of clients that call each other, each pair in its own thread
//   call_client idle  PORT PID SOCKETS              sockets that are logged in and say nothing
//
// Prints one JSON object. Times are in milliseconds, memory in kilobytes (1024 bytes).
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

const char *const kDescription =
    "v=0\\r\\no=- 4611731400430051336 2 IN IP4 127.0.0.1\\r\\ns=-\\r\\nt=0 0\\r\\na=group:BUNDLE 0\\r\\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8\\r\\nc=IN IP4 0.0.0.0\\r\\na=mid:0\\r\\na=ice-ufrag:abcd\\r\\n"
    "a=ice-pwd:abcdefghijklmnopqrstuvwx\\r\\na=fingerprint:sha-256 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:"
    "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF\\r\\na=setup:actpass\\r\\na=rtcp-mux\\r\\n"
    "a=rtpmap:111 opus/48000/2\\r\\na=rtpmap:0 PCMU/8000\\r\\na=rtpmap:8 PCMA/8000\\r\\na=sendrecv\\r\\n";

[[noreturn]] void Fail(const std::string &what) {
  std::fprintf(stderr, "call_client: %s\n", what.c_str());
  std::exit(1);
}

class Socket {
 public:
  explicit Socket(int port) {
    descriptor_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(descriptor_, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) Fail("cannot connect");
    int one = 1;
    setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    Write(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    while (buffer_.find("\r\n\r\n") == std::string::npos) Fill();
    if (buffer_.compare(0, 12, "HTTP/1.1 101") != 0) Fail("no upgrade: " + buffer_.substr(0, 40));
    buffer_.erase(0, buffer_.find("\r\n\r\n") + 4);
  }
  Socket(const Socket &) = delete;
  Socket &operator=(const Socket &) = delete;
  ~Socket() { close(descriptor_); }

  void Send(const std::string &text) {
    std::string frame(1, '\x81');
    if (text.size() < 126) {
      frame += static_cast<char>(0x80 | text.size());
    } else {
      frame += '\xFE';
      frame += static_cast<char>(text.size() >> 8);
      frame += static_cast<char>(text.size() & 0xFF);
    }
    const char key[4] = {0x12, 0x34, 0x56, 0x78};
    frame.append(key, 4);
    for (size_t index = 0; index < text.size(); ++index) frame += static_cast<char>(text[index] ^ key[index % 4]);
    Write(frame);
  }

  // The next text frame.
  std::string Receive() {
    for (;;) {
      if (buffer_.size() >= 2) {
        size_t length = buffer_[1] & 0x7F, head = 2;
        if (length == 126) {
          head = 4;
          if (buffer_.size() >= head)
            length = static_cast<unsigned char>(buffer_[2]) << 8 | static_cast<unsigned char>(buffer_[3]);
        }
        if (buffer_.size() >= head && buffer_.size() >= head + length) {
          int opcode = buffer_[0] & 0xF;
          std::string text = buffer_.substr(head, length);
          buffer_.erase(0, head + length);
          if (opcode == 8) Fail("closed: " + text);
          if (opcode == 1) return text;
          continue;
        }
      }
      Fill();
    }
  }

  // Skips to the frame that holds a text.
  std::string Await(const char *text) {
    for (;;) {
      std::string frame = Receive();
      if (frame.find(text) != std::string::npos) return frame;
      if (frame.find("\"error\"") != std::string::npos) Fail("refused: " + frame.substr(0, 300));
    }
  }

 private:
  void Write(const std::string &bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      ssize_t count = send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) Fail("cannot write");
      sent += count;
    }
  }

  void Fill() {
    char chunk[16384];
    ssize_t count = recv(descriptor_, chunk, sizeof chunk, 0);
    if (count <= 0) Fail("connection lost");
    buffer_.append(chunk, count);
  }

  int descriptor_;
  std::string buffer_;
};

void LogIn(Socket &socket, const std::string &user, const std::string &session) {
  socket.Send("{\"jsonrpc\":\"2.0\",\"id\":\"login\",\"method\":\"login\",\"params\":{\"login\":\"" + user +
              "\",\"passwd\":\"" + user + "-password\",\"sessid\":\"" + session +
              "\",\"loginParams\":{},\"userVariables\":{}}}");
  socket.Await("clientReady");
  socket.Send("{\"jsonrpc\":\"2.0\",\"id\":\"state\",\"method\":\"telnyx_rtc.gatewayState\",\"params\":{}}");
  socket.Await("REGED");
}

std::string Field(const std::string &frame, const std::string &name) {
  std::string key = "\"" + name + "\":\"";
  size_t start = frame.find(key);
  if (start == std::string::npos) key = "\"" + name + "\": \"", start = frame.find(key);
  if (start == std::string::npos) Fail("no " + name + " in " + frame.substr(0, 200));
  start += key.size();
  return frame.substr(start, frame.find('"', start) - start);
}

// Invite, ringing, answer, goodbye: eight requests and their responses on two sockets.
void Call(Socket &caller, Socket &callee, const std::string &session, const std::string &user, int number) {
  std::string call = session + "-" + std::to_string(number);
  caller.Send("{\"jsonrpc\":\"2.0\",\"id\":\"i" + std::to_string(number) +
              "\",\"method\":\"telnyx_rtc.invite\",\"params\":{\"sessid\":\"" + session + "\",\"sdp\":\"" +
              kDescription + "\",\"dialogParams\":{\"callID\":\"" + call + "\",\"destination_number\":\"" + user +
              "\",\"remote_caller_id_name\":\"Outbound Call\",\"caller_id_name\":\"Alice\",\"caller_id_number\":"
              "\"1001\",\"audio\":true,\"video\":false,\"attach\":false,\"userVariables\":{},\"clientState\":"
              "\"c3RhdGU=\",\"custom_headers\":[{\"name\":\"X-T\",\"value\":\"1\"}]},\"User-Agent\":\"bench\"}}");
  std::string invite = callee.Await("telnyx_rtc.invite");
  std::string other = Field(invite, "callID");
  caller.Await("telnyx_rtc.ringing");
  callee.Send("{\"jsonrpc\":\"2.0\",\"id\":\"a" + std::to_string(number) +
              "\",\"method\":\"telnyx_rtc.answer\",\"params\":{\"sessid\":\"x\",\"sdp\":\"" + kDescription +
              "\",\"dialogParams\":{\"callID\":\"" + other + "\",\"audio\":true},\"User-Agent\":\"bench\"}}");
  caller.Await("telnyx_rtc.answer");
  callee.Await("CALL ANSWERED");
  caller.Send("{\"jsonrpc\":\"2.0\",\"id\":\"b" + std::to_string(number) +
              "\",\"method\":\"telnyx_rtc.bye\",\"params\":{\"sessid\":\"" + session +
              "\",\"cause\":\"NORMAL_CLEARING\",\"causeCode\":16,\"dialogParams\":{\"callID\":\"" + call + "\"}}}");
  caller.Await("CALL ENDED");
  callee.Await("telnyx_rtc.bye");
}

double Processor(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t end = text.rfind(')');
  if (end == std::string::npos) Fail("the server is gone");
  unsigned long user = 0, system = 0;
  std::sscanf(text.c_str() + end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return double(user + system) / sysconf(_SC_CLK_TCK);
}

double Resident(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(file, line))
    if (line.rfind("VmRSS:", 0) == 0) return std::atof(line.c_str() + 6);
  Fail("the server is gone");
}

double Milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

void Calls(int port, int pid, int pairs, int calls, int warmup) {
  std::vector<std::vector<double>> times(pairs);
  std::atomic<int> ready{0}, begun{0};
  std::vector<std::thread> threads;
  for (int pair = 0; pair < pairs; ++pair) {
    threads.emplace_back([&, pair] {
      // A user for each pair's callee, so that one call rings one client.
      std::string session = "s" + std::to_string(pair), user = "user" + std::to_string(pair);
      Socket caller(port), callee(port);
      LogIn(caller, "alice", session);
      LogIn(callee, user, session + "c");
      for (int number = 0; number < warmup; ++number) Call(caller, callee, session, user, -1 - number);
      ready++;
      while (begun == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (int number = 0; number < calls; ++number) {
        auto start = std::chrono::steady_clock::now();
        Call(caller, callee, session, user, number);
        times[pair].push_back(Milliseconds(std::chrono::steady_clock::now() - start));
      }
    });
  }
  while (ready < pairs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  double processor = Processor(pid);
  auto start = std::chrono::steady_clock::now();
  begun = 1;
  for (auto &thread : threads) thread.join();
  double seconds = Milliseconds(std::chrono::steady_clock::now() - start) / 1000;
  processor = Processor(pid) - processor;
  std::vector<double> all;
  for (auto &some : times) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  std::printf(
      "{\"callsPerSecond\":%.1f,\"callsPerCoreSecond\":%.1f,\"p50\":%.3f,\"p99\":%.3f,\"cpu\":%.3f}\n",
      all.size() / seconds, all.size() / processor, all[all.size() / 2], all[all.size() * 99 / 100], processor);
}

void Idle(int port, int pid, int count) {
  // What the first sockets need once is not theirs.
  std::vector<std::unique_ptr<Socket>> sockets;
  auto open = [&] {
    sockets.push_back(std::make_unique<Socket>(port));
    LogIn(*sockets.back(), "user" + std::to_string(sockets.size() % 64), "idle" + std::to_string(sockets.size()));
  };
  for (int index = 0; index < 100; ++index) open();
  double before = Resident(pid);
  for (int index = 0; index < count; ++index) open();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  double after = Resident(pid);
  std::printf("{\"kilobytesPerSocket\":%.3f,\"sockets\":%d}\n", (after - before) / count, count);
}

}  // namespace

int main(int count, char **arguments) {
  std::string mode = count > 3 ? arguments[1] : "";
  auto number = [&](int index) { return std::atoi(arguments[index]); };
  if (mode == "calls" && count == 7) {
    Calls(number(2), number(3), number(4), number(5), number(6));
  } else if (mode == "idle" && count == 5) {
    Idle(number(2), number(3), number(4));
  } else {
    Fail("usage: call_client calls PORT PID PAIRS CALLS WARMUP | idle PORT PID SOCKETS");
  }
}
