// TENON_ThreadPool: sessions that share threads.
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

#include "tenon/tenon_c.h"
#include "tests/executor/api/session/session_util.h"

namespace tenon::thread_pool_test {
namespace {

using ::testing::HasSubstr;

using PoolPtr = std::unique_ptr<TENON_ThreadPool, testing::Deleter<TENON_DeleteThreadPool>>;

int64_t ThreadsOfProcess() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

class CThreadPool : public testing::GraphFixture {
 protected:
  void TearDown() override {
    for (TF_Session* session : sessions_) TF_DeleteSession(session, s());
  }
  TF_Session* NewSession() {
    TF_Session* const session = TF_NewSession(g(), options_.get(), s());
    ExpectOk();
    return sessions_.emplace_back(session);
  }
  void Share(const TENON_ThreadPool* pool) {
    TENON_SetThreadPool(options_.get(), pool, s());
    ExpectOk();
  }

  testing::OptionsPtr options_{TF_NewSessionOptions()};
  std::vector<TF_Session*> sessions_;
};

TEST_F(CThreadPool, TwoSessionsHaveTheThreadsOfOne) {
  const int64_t before = ThreadsOfProcess();
  PoolPtr pool(TENON_NewThreadPool(7, s()));
  ExpectOk();
  EXPECT_EQ(TENON_ThreadPoolSize(pool.get()), 7);
  EXPECT_EQ(ThreadsOfProcess(), before + 6);  // the caller of a run is the seventh
  Share(pool.get());
  NewSession();
  NewSession();
  EXPECT_EQ(ThreadsOfProcess(), before + 6);
  // What a ConfigProto says of threads counts for nothing.
  pb::ConfigProto config;
  config.set_intra_op_parallelism_threads(5);
  config.set_use_per_session_threads(true);
  const std::string bytes = config.SerializeAsString();
  TF_SetConfig(options_.get(), bytes.data(), bytes.size(), s());
  ExpectOk();
  NewSession();
  EXPECT_EQ(ThreadsOfProcess(), before + 6);
  Share(nullptr);
  NewSession();
  EXPECT_EQ(ThreadsOfProcess(), before + 6 + 4);
  // The sessions keep the threads, and the last of them ends them.
  pool.reset();
  EXPECT_EQ(ThreadsOfProcess(), before + 6 + 4);
  for (TF_Session* session : sessions_) TF_DeleteSession(session, s());
  sessions_.clear();
  EXPECT_EQ(ThreadsOfProcess(), before);
}

TEST_F(CThreadPool, ASessionGivesItsPoolToAnother) {
  PoolPtr made(TENON_NewThreadPool(3, s()));
  Share(made.get());
  TF_Session* const first = NewSession();
  made.reset();
  Share(nullptr);
  const int64_t before = ThreadsOfProcess();
  PoolPtr pool(TENON_ThreadPoolOfSession(first, s()));
  ExpectOk();
  EXPECT_EQ(TENON_ThreadPoolSize(pool.get()), 3);
  Share(pool.get());
  TF_Session* const second = NewSession();
  EXPECT_EQ(ThreadsOfProcess(), before);
  // The first may go: the second has the threads.
  TF_DeleteSession(first, s());
  sessions_ = {second};
  EXPECT_EQ(ThreadsOfProcess(), before);
}

TEST_F(CThreadPool, MistakesAreStatuses) {
  for (const int threads : {-1, 4097, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(TENON_NewThreadPool(threads, s()), nullptr);
    EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
    EXPECT_THAT(message(), HasSubstr(std::to_string(threads)));
  }
  PoolPtr pool(TENON_NewThreadPool(0, s()));
  ExpectOk();
  EXPECT_GE(TENON_ThreadPoolSize(pool.get()), 1);
  EXPECT_EQ(TENON_ThreadPoolSize(nullptr), 0);
  TENON_SetThreadPool(nullptr, pool.get(), s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TENON_ThreadPoolOfSession(nullptr, s()), nullptr);
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TENON_ThreadPool* const gone = pool.release();
  TENON_DeleteThreadPool(gone);
  TENON_SetThreadPool(options_.get(), gone, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TENON_ThreadPoolSize(gone), 0);
  TENON_DeleteThreadPool(nullptr);
}

}  // namespace
}  // namespace tenon::thread_pool_test
