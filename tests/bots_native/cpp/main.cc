// A bot that speaks the protocol itself: it plays a random legal action of whatever game it is asked about.
#include <grpcpp/grpcpp.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>

#include "botarena/v1/bot.grpc.pb.h"

namespace {

using botarena::v1::BotService;
using botarena::v1::Decision;
using botarena::v1::FromArena;
using botarena::v1::FromBot;
using botarena::v1::GameTurn;
using botarena::v1::MatchStart;

constexpr int kProtocol = 1;
constexpr int kConcurrency = 256;

// How many actions a turn offers. Every game's turn has a field `actions`, so no game needs to be known.
int CountActions(const GameTurn& turn) {
  const auto* reflection = turn.GetReflection();
  const auto* game = reflection->GetOneofFieldDescriptor(turn, turn.GetDescriptor()->oneof_decl(0));
  if (game == nullptr) return 0;
  const auto& view = reflection->GetMessage(turn, game);
  const auto* actions = view.GetDescriptor()->FindFieldByName("actions");
  return actions == nullptr ? 0 : view.GetReflection()->FieldSize(view, actions);
}

// The matches that are being played, each with random choices of its own: so a match repeats itself exactly,
// whatever else is played beside it.
class Player {
 public:
  // The answers to a frame.
  FromBot Answer(const FromArena& frame) {
    for (const auto& end : frame.ends()) matches_.erase(end.match());
    for (const auto& start : frame.starts()) Begin(start);
    FromBot answer;
    for (const auto& decision : frame.decisions()) {
      auto* reply = answer.add_replies();
      reply->set_decision(decision.id());
      reply->set_action(Choose(decision));
    }
    return answer;
  }

 private:
  void Begin(const MatchStart& start) {
    const std::string& bytes = start.bot_seed();
    std::seed_seq seed(bytes.begin(), bytes.end());
    matches_[start.match()].seed(seed);
  }

  uint32_t Choose(const Decision& decision) {
    const int count = CountActions(decision.turn());
    return count > 0 ? matches_[decision.match()]() % static_cast<uint32_t>(count) : 0;
  }

  std::unordered_map<uint32_t, std::mt19937> matches_;
};

FromBot Greeting() {
  FromBot frame;
  frame.mutable_hello()->set_protocol(kProtocol);
  frame.mutable_hello()->set_concurrency(kConcurrency);
  return frame;
}

// Plays until the arena says goodbye or hangs up, or the call is cancelled.
grpc::Status Play(BotService::Stub& stub, grpc::ClientContext& context) {
  const auto stream = stub.Play(&context);
  Player player;
  FromArena frame;
  bool writable = stream->Write(Greeting());
  while (writable && stream->Read(&frame) && !frame.has_goodbye()) {
    const FromBot answer = player.Answer(frame);
    if (answer.replies_size() > 0) writable = stream->Write(answer);
  }
  stream->WritesDone();
  context.TryCancel();  // what may still come is of no interest
  return stream->Finish();
}

// Ends the call at SIGTERM. All threads block the signal, so that one alone receives it.
void CancelAtSignal(grpc::ClientContext& context) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, &context] {
    int number = 0;
    sigwait(&signals, &number);
    context.TryCancel();
  }).detach();
}

}  // namespace

int main() {
  const char* address = std::getenv("ARENA_ADDR");
  const char* token = std::getenv("ARENA_TOKEN");
  if (address == nullptr || token == nullptr) {
    std::cerr << "ARENA_ADDR and ARENA_TOKEN are not set: this is a bot, which the arena starts\n";
    return 2;
  }
  static grpc::ClientContext context;  // outlives the thread that may cancel it
  CancelAtSignal(context);
  context.AddMetadata("authorization", std::string("Bearer ") + token);
  const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  const auto stub = BotService::NewStub(channel);
  const grpc::Status status = Play(*stub, context);
  if (status.ok() || status.error_code() == grpc::StatusCode::CANCELLED) return 0;
  std::cerr << "the arena ended the conversation: " << status.error_message() << "\n";
  return 1;
}
