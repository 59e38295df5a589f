#include "graph/c_api/callback_scope.h"

#include <thread>

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

}  // namespace
}  // namespace tenon
