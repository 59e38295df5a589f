// Executors, cancellation, and several threads in one context.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "absl/synchronization/notification.h"
#include "executor/api/eager/executor_queue.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ContextPointer NewAsyncContext() {
  return NewContext([](TFE_ContextOptions* options) { TFE_ContextOptionsSetAsync(options, 1); });
}

struct ExecutorDeleter {
  void operator()(TFE_Executor* executor) const { TFE_DeleteExecutor(executor); }
};
using ExecutorPointer = std::unique_ptr<TFE_Executor, ExecutorDeleter>;

constexpr char kSticky[] =
    "\n\tEncountered when executing an operation using EagerExecutor. This error cancels all "
    "future "
    "operations and poisons their output tensors.";

TEST(EagerAsyncTest, ValuesComeLater) {
  const ContextPointer context = NewAsyncContext();
  Handle sum = Of<float>({2}, {1, 2});
  for (int i = 0; i < 100; ++i) {
    sum = RunOp(context.get(), "AddV2", {sum.get(), sum.get()});
    ASSERT_NE(sum, nullptr);
    EXPECT_EQ(TFE_TensorHandleDataType(sum.get()), TF_FLOAT);
    if (i % 10 == 9) sum = RunOp(context.get(), "Sign", {sum.get()});
  }
  EXPECT_THAT(DimsOf(sum.get()), ElementsAre(2));
  EXPECT_THAT(Values<float>(sum.get()), ElementsAre(1, 1));
}

TEST(EagerAsyncTest, WaitingForTheContextClearsErrors) {
  CheckedStatus status;
  const ContextPointer context = NewAsyncContext();
  const Handle two = Of<float>({2}, {1, 2}), three = Of<float>({3}, {1, 2, 3});
  const Handle bad = RunOp(context.get(), "AddV2", {two.get(), three.get()});
  TFE_ContextAsyncWait(context.get(), status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  TFE_ContextAsyncWait(context.get(), status);
  EXPECT_EQ(status.text(), "OK");
  EXPECT_THAT(Values<float>(RunOp(context.get(), "AddV2", {two.get(), two.get()}).get()),
              ElementsAre(2, 4));
}

TEST(EagerAsyncTest, ErrorsStayUntilTheyAreCleared) {
  CheckedStatus status;
  const ContextPointer context = NewAsyncContext();
  const Handle two = Of<float>({2}, {1, 2}), three = Of<float>({3}, {1, 2, 3});
  const Handle bad = RunOp(context.get(), "AddV2", {two.get(), three.get()});
  ASSERT_NE(bad, nullptr);
  EXPECT_EQ(TFE_TensorHandleNumDims(bad.get(), status), -1);
  EXPECT_THAT(status.text(), StartsWith("3 Incompatible shapes: [2] vs. [3]"));
  EXPECT_EQ(TFE_TensorHandleResolve(bad.get(), status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_STREQ(TFE_TensorHandleDeviceName(bad.get(), status),
               "/job:localhost/replica:0/task:0/device:CPU:0");

  const ExecutorPointer executor(TFE_ContextGetExecutorForThread(context.get()));
  EXPECT_TRUE(TFE_ExecutorIsAsync(executor.get()));
  TFE_ExecutorWaitForAllPendingNodes(executor.get(), status);
  EXPECT_THAT(status.text(), HasSubstr(kSticky));
  EXPECT_THAT(ErrorOf(context.get(), "AddV2", {two.get(), two.get()}), HasSubstr(kSticky));
  TFE_ContextAsyncWait(context.get(), status);
  EXPECT_THAT(status.text(), HasSubstr(kSticky));

  TFE_ExecutorClearError(executor.get());
  TFE_ExecutorWaitForAllPendingNodes(executor.get(), status);
  EXPECT_EQ(status.text(), "OK");
  EXPECT_THAT(Values<float>(RunOp(context.get(), "AddV2", {two.get(), two.get()}).get()),
              ElementsAre(2, 4));
  // A handle without a value stays so.
  const Handle of_bad = RunOp(context.get(), "Neg", {bad.get()});
  EXPECT_EQ(TFE_TensorHandleNumDims(of_bad.get(), status), -1);
  EXPECT_THAT(status.text(), StartsWith("3 Incompatible shapes"));
}

TEST(EagerAsyncTest, ErrorsThatNeedNoValuesComeAtOnce) {
  const ContextPointer context = NewAsyncContext();
  const Handle floats = Of<float>({1}, {1}), ints = Of<int32_t>({1}, {1});
  EXPECT_THAT(ErrorOf(context.get(), "AddV2", {floats.get(), ints.get()}),
              StartsWith("3 cannot compute AddV2"));
  EXPECT_THAT(Values<float>(RunOp(context.get(), "Neg", {floats.get()}).get()), ElementsAre(-1));
}

TEST(EagerAsyncTest, AnExecutorOfAThread) {
  CheckedStatus status;
  const ContextPointer context = NewContext();
  const Handle two = Of<float>({2}, {1, 2}), three = Of<float>({3}, {1, 2, 3});
  ExecutorPointer own(TFE_NewExecutor(true, false, 2));
  TFE_ContextSetExecutorForThread(context.get(), own.get());
  std::thread([&] {
    const ExecutorPointer other(TFE_ContextGetExecutorForThread(context.get()));
    EXPECT_FALSE(TFE_ExecutorIsAsync(other.get()));
    EXPECT_THAT(ErrorOf(context.get(), "AddV2", {two.get(), three.get()}),
                StartsWith("3 Incompatible"));
  }).join();
  std::vector<Handle> sums;  // more than the executor queues at once
  for (int i = 0; i < 20; ++i)
    sums.push_back(RunOp(context.get(), "AddV2", {two.get(), two.get()}));
  own.reset();  // waits for its ops; the thread goes back to the context's executor
  for (const Handle& sum : sums) EXPECT_THAT(Values<float>(sum.get()), ElementsAre(2, 4));
  const ExecutorPointer executor(TFE_ContextGetExecutorForThread(context.get()));
  EXPECT_FALSE(TFE_ExecutorIsAsync(executor.get()));
}

// Deleting a context, or handles, must not lose queued work that uses them.
// An op that fails when it is told to, and one whose discarding takes a while.
struct FailingOp : QueuedOp {
  explicit FailingOp(absl::Notification* go) : go(go) {}
  absl::Status Run() override {
    go->WaitForNotification();
    return absl::InternalError("it fails");
  }
  void Discard(const absl::Status&) override {}
  absl::Notification* const go;
};
struct SlowToDiscard : QueuedOp {
  explicit SlowToDiscard(std::atomic<bool>* discarded) : discarded(discarded) {}
  absl::Status Run() override { return absl::OkStatus(); }
  void Discard(const absl::Status&) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    *discarded = true;
  }
  std::atomic<bool>* const discarded;
};

// Also where more ops are queued behind those that the caller waits for.
TEST(EagerAsyncTest, WaitingEndsWhenOpsAreDiscarded) {
  absl::Notification go;
  std::atomic<bool> discarded = false, later = false;
  Executor executor(/*async=*/true, 0);
  ASSERT_TRUE(executor.Add(std::make_unique<FailingOp>(&go)).ok());
  ASSERT_TRUE(executor.Add(std::make_unique<SlowToDiscard>(&discarded)).ok());
  std::thread waits([&] {
    EXPECT_EQ(executor.Wait().code(), absl::StatusCode::kInternal);
    EXPECT_TRUE(discarded);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it waits
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(executor.Add(std::make_unique<SlowToDiscard>(&later)).ok());
  }
  go.Notify();
  waits.join();
}

TEST(EagerAsyncTest, DeletingDoesNotDisturbQueuedOps) {
  Handle last;
  {
    const ContextPointer context = NewAsyncContext();
    for (int i = 0; i < 200; ++i) {
      const Handle x = Of<float>({1}, {static_cast<float>(i)});
      last = RunOp(context.get(), "Neg", {x.get()});
    }
  }
  EXPECT_THAT(Values<float>(last.get()), ElementsAre(-199));
}

// A dequeue from an empty queue, which ends only when it is cancelled. `queue` gets the queue.
TFE_Op* NewWaitingOp(TFE_Context* context, std::vector<Handle>* queue, TF_Status* status) {
  TFE_Op* op = TFE_NewOp(context, "FIFOQueueV2", status);
  const TF_DataType type = TF_FLOAT;
  TFE_OpSetAttrTypeList(op, "component_types", &type, 1);
  *queue = Execute(op, 1);
  TFE_DeleteOp(op);
  EXPECT_EQ(queue->size(), 1u);
  op = TFE_NewOp(context, "QueueDequeueV2", status);
  TFE_OpSetAttrTypeList(op, "component_types", &type, 1);
  TFE_OpAddInput(op, queue->front().get(), status);
  return op;
}

// A queued op may end such a handle at any time, so a call must not look into it.
TEST(EagerAsyncTest, AHandleThatOnlyAQueuedOpHoldsIsDeleted) {
  CheckedStatus status;
  const ContextPointer context = NewAsyncContext();
  std::vector<Handle> queue;
  TFE_Op* const op = NewWaitingOp(context.get(), &queue, status);
  TFE_CancellationManager* const manager = TFE_NewCancellationManager();
  TFE_OpSetCancellationManager(op, manager, status);
  TFE_TensorHandle* result = nullptr;
  int count = 1;
  TFE_Execute(op, &result, &count, status);
  ASSERT_EQ(status.text(), "OK");
  TFE_DeleteTensorHandle(result);
  TFE_TensorHandleNumDims(result, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_THAT(status.text(), HasSubstr("deleted"));
  TFE_CancellationManagerStartCancel(manager);
  TFE_DeleteOp(op);
  TFE_DeleteCancellationManager(manager);
}

TEST(EagerAsyncTest, ThreadsShareAContext) {
  const ContextPointer context = NewContext();
  const Handle x = Of<float>({2}, {1, 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const Handle shape = Of<int32_t>({2}, {1, 2});
        const Handle y = RunOp(context.get(), i % 2 == 0 ? "AddV2" : "Mul", {x.get(), x.get()});
        const Handle z = RunOp(context.get(), "Reshape", {y.get(), shape.get()});
        EXPECT_THAT(Values<float>(z.get()), i % 2 == 0 ? ElementsAre(2, 4) : ElementsAre(1, 4));
        if (t == 0 && i % 50 == 0) TFE_ContextClearCaches(context.get());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void CountCall(void* count) { ++*static_cast<int*>(count); }

TEST(CancellationTest, CallbacksAreCalledOnce) {
  TFE_CancellationManager* const manager = TFE_NewCancellationManager();
  int first = 0, second = 0;
  const TFE_CancelCallback callbacks[] = {{CountCall, &first}, {CountCall, &second}};
  const TFE_CancellationToken tokens[] = {TFE_CancellationManagerGetToken(manager),
                                          TFE_CancellationManagerGetToken(manager)};
  EXPECT_NE(tokens[0], tokens[1]);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(
        TFE_CancellationManagerRegisterCallback(manager, tokens[i], &callbacks[i], "callback"));
  }
  EXPECT_FALSE(TFE_CancellationManagerIsCancelled(manager));
  EXPECT_TRUE(TFE_CancellationManagerDeregisterCallback(manager, tokens[1]));
  TFE_CancellationManagerStartCancel(manager);
  TFE_CancellationManagerStartCancel(manager);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  EXPECT_TRUE(TFE_CancellationManagerIsCancelled(manager));
  EXPECT_FALSE(TFE_CancellationManagerIsCancelling(manager));
  EXPECT_FALSE(TFE_CancellationManagerTryDeregisterCallback(manager, tokens[0]));
  EXPECT_FALSE(TFE_CancellationManagerRegisterCallback(manager, tokens[1], &callbacks[1], "late"));
  TFE_DeleteCancellationManager(manager);
}

// Starts to cancel once the op has had time to begin; the op must end either way.
TEST(CancellationTest, EndsAnOpThatWaits) {
  CheckedStatus status;
  const ContextPointer context = NewContext();
  std::vector<Handle> queue;
  TFE_Op* const op = NewWaitingOp(context.get(), &queue, status);
  TFE_CancellationManager* const manager = TFE_NewCancellationManager();
  TFE_OpSetCancellationManager(op, manager, status);
  EXPECT_EQ(status.text(), "OK");
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    TFE_CancellationManagerStartCancel(manager);
  });
  TFE_TensorHandle* result = nullptr;
  int count = 1;
  TFE_Execute(op, &result, &count, status);
  canceller.join();
  EXPECT_EQ(status.code(), TF_CANCELLED);
  EXPECT_THAT(status.text(), HasSubstr("operation was cancelled"));
  TFE_DeleteOp(op);
  TFE_DeleteCancellationManager(manager);
}

// What was cancelled before takes no element, though there is one.
TEST(CancellationTest, EndsAnOpThatNeedNotWait) {
  CheckedStatus status;
  const ContextPointer context = NewContext();
  std::vector<Handle> queue;
  TFE_Op* const take = NewWaitingOp(context.get(), &queue, status);
  TFE_Op* const put = TFE_NewOp(context.get(), "QueueEnqueueV2", status);
  const Handle element = Of<float>({}, {3});
  TFE_OpAddInput(put, queue.front().get(), status);
  TFE_TensorHandle* elements[] = {element.get()};
  TFE_OpAddInputList(put, elements, 1, status);
  int count = 0;
  TFE_Execute(put, nullptr, &count, status);
  ASSERT_EQ(status.text(), "OK");
  TFE_DeleteOp(put);
  TFE_CancellationManager* const manager = TFE_NewCancellationManager();
  TFE_OpSetCancellationManager(take, manager, status);
  TFE_CancellationManagerStartCancel(manager);
  TFE_TensorHandle* result = nullptr;
  count = 1;
  TFE_Execute(take, &result, &count, status);
  EXPECT_EQ(status.code(), TF_CANCELLED);
  TFE_DeleteOp(take);
  TFE_DeleteCancellationManager(manager);
  const Handle size = RunOp(context.get(), "QueueSizeV2", {queue.front().get()});
  EXPECT_THAT(Values<int32_t>(size.get()), ElementsAre(1));
}

// As in TensorFlow: a manager tells of its end who still listens.
TEST(CancellationTest, DeletingCallsWhatIsLeft) {
  int calls[] = {0, 0};
  TFE_CancellationManager* const manager = TFE_NewCancellationManager();
  TFE_CancellationToken tokens[2];
  for (int i = 0; i < 2; ++i) {
    tokens[i] = TFE_CancellationManagerGetToken(manager);
    const TFE_CancelCallback callback = {CountCall, &calls[i]};
    EXPECT_TRUE(TFE_CancellationManagerRegisterCallback(manager, tokens[i], &callback, "end"));
  }
  EXPECT_TRUE(TFE_CancellationManagerDeregisterCallback(manager, tokens[1]));
  TFE_DeleteCancellationManager(manager);
  EXPECT_THAT(calls, ElementsAre(1, 0));
}

TEST(CancellationTest, NullArguments) {
  TFE_CancellationManagerStartCancel(nullptr);
  TFE_DeleteCancellationManager(nullptr);
  EXPECT_FALSE(TFE_CancellationManagerIsCancelled(nullptr));
  EXPECT_FALSE(TFE_CancellationManagerRegisterCallback(nullptr, 0, nullptr, nullptr));
  CheckedStatus status;
  TFE_OpSetCancellationManager(nullptr, nullptr, status);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
}

class CountedOp : public QueuedOp {
 public:
  CountedOp(int* run, int* discarded) : run_(run), discarded_(discarded) {}
  absl::Status Run() override {
    ++*run_;
    return absl::OkStatus();
  }
  void Discard(const absl::Status&) override { ++*discarded_; }

 private:
  int* const run_;
  int* const discarded_;
};

// The system gives no thread a stack of 64 TiB.
TEST(EagerAsyncTest, WithoutAThreadTheOpIsDiscarded) {
  pthread_attr_t usual, huge;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_init(&huge);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 46), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  int run = 0, discarded = 0;
  {
    Executor executor(/*async=*/true, 0);
    const absl::Status refused = executor.Add(std::make_unique<CountedOp>(&run, &discarded));
    pthread_setattr_default_np(&usual);
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
    EXPECT_EQ(discarded, 1);
    EXPECT_TRUE(executor.Wait().ok());
    EXPECT_TRUE(executor.Add(std::make_unique<CountedOp>(&run, &discarded)).ok());
    EXPECT_TRUE(executor.Wait().ok());
  }
  EXPECT_EQ(run, 1);
  pthread_attr_destroy(&huge);
  pthread_attr_destroy(&usual);
}

}  // namespace
}  // namespace tenon::eager
