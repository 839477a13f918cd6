// The peer of the server: the same protocol with the C++ gRPC library and nothing behind it. It answers every message of audio
// with one small event. Prints its port; ends when its standard input ends.
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>

#include "speechly/slu/v1/slu.grpc.pb.h"

using speechly::slu::v1::SLU;
using speechly::slu::v1::SLURequest;
using speechly::slu::v1::SLUResponse;

namespace {

class Stream : public grpc::ServerBidiReactor<SLURequest, SLUResponse> {
 public:
  Stream() { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Finish(grpc::Status::OK);
      return;
    }
    response_.Clear();
    response_.set_audio_context("00000000-0000-4000-8000-000000000000");
    switch (request_.streaming_request_case()) {
      case SLURequest::kStart:
        response_.mutable_started();
        break;
      case SLURequest::kStop:
        response_.mutable_finished();
        break;
      case SLURequest::kAudio: {
        heard_ += request_.audio().size();
        auto *transcript = response_.mutable_tentative_transcript();
        const char *text = answers_++ % 2 ? "left" : "right";
        transcript->set_tentative_transcript(text);
        auto *word = transcript->add_tentative_words();
        word->set_word(text);
        word->set_end_time(static_cast<int>(heard_ / 32));
        break;
      }
      default:
        StartRead(&request_);
        return;
    }
    StartWrite(&response_);
  }

  void OnWriteDone(bool ok) override {
    if (ok) StartRead(&request_);
    // Otherwise the client is gone, and OnDone follows once the call is finished.
    else Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override { delete this; }

 private:
  SLURequest request_;
  SLUResponse response_;
  size_t heard_ = 0;
  unsigned answers_ = 0;
};

class Service : public SLU::CallbackService {
  grpc::ServerBidiReactor<SLURequest, SLUResponse> *Stream(grpc::CallbackServerContext *) override {
    return new ::Stream();
  }
};

}  // namespace

int main() {
  Service service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server || port == 0) return 1;
  std::printf("PORT %d\n", port);
  std::fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  _exit(0);
}
