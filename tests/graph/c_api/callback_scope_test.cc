#include "graph/c_api/callback_scope.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

namespace tenon {
namespace {

// Records of threads that have ended are used again, but not for what these threads called.
TEST(CallbackScope, AThreadKnowsItsOwnLastCallOnly) {
  std::thread([] {
    { const CallbackScope scope("/a.so", "first"); }
    EXPECT_STREQ(LastCallback().plugin, "/a.so");
  }).join();
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      const CallbackScope scope("/b.so", "second");
      EXPECT_STREQ(LastCallback().plugin, "");
      EXPECT_STREQ(LastCallback().callback, "");
    }).join();
  }
}

// What has made the call may go, and its text with it.
TEST(CallbackScope, TheLastPluginIsACopy) {
  std::thread([] {
    auto path = std::make_unique<std::string>(300, 'p');
    { const CallbackScope scope(path->c_str(), "first"); }
    path->assign(300, 'q');
    path.reset();
    EXPECT_EQ(LastCallback().plugin, std::string(255, 'p'));
  }).join();
}

// A record names a call and its own serial, also while calls begin and end.
TEST(CallbackScope, RecordsAreOfOneCall) {
  std::atomic<bool> ends{false};
  std::thread caller([&ends] {
    while (!ends) {
      const CallbackScope outer("/a.so", "outer");
      const CallbackScope inner("/a.so", "inner");
    }
  });
  std::map<std::pair<const void*, uint64_t>, const CallbackInfo*> calls;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  int different = 0;
  while (std::chrono::steady_clock::now() < limit) {
    for (const ActiveCall& call : ActiveCalls()) {
      const auto [known, is_new] = calls.try_emplace({call.thread, call.serial}, call.call);
      if (known->second != call.call) ++different;
    }
  }
  ends = true;
  caller.join();
  EXPECT_FALSE(calls.empty());
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace tenon
