// Copies by way of host memory of the plug-in's, on a stub in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "plugin/device/copy_scope.h"
#include "plugin/device/device_copy.h"
#include "tests/plugin/host/devices/stub_device_util.h"
#include "tests/support/leaks_on_purpose.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing::seen;
using testing::StreamExecutorTest;

constexpr size_t kMiB = size_t{1} << 20;

// What the callbacks below count. The stub has no place for it.
struct Counts {
  int allocated = 0, freed = 0, asked = 0;
  int copies = 0, pinned_copies = 0;  // memcpy_htod: all, and from memory of the plug-in
  int fails_at = 0;                   // this copy fails; 0: none
  bool hangs = false;                 // no event completes
  int64_t slow_us = 0;                // a copy from memory that is not the plug-in's
  std::vector<std::pair<char*, uint64_t>> blocks;
  std::vector<std::string> ends;
};
Counts counts;
absl::Mutex counts_mutex;

bool IsPinned(const void* data) {
  const char* const at = static_cast<const char*>(data);
  for (const auto& [begin, size] : counts.blocks)
    if (at >= begin && at < begin + size) return true;
  return false;
}

class HostStagingTest : public StreamExecutorTest {
 protected:
  HostStagingTest() {
    counts = Counts();
    stub_.se.host_memory_allocate = [](const SP_Device*, uint64_t size) -> void* {
      // As an unaligned address, which the interface allows.
      char* const block = static_cast<char*>(std::malloc(size + 8));
      absl::MutexLock lock(&counts_mutex);
      counts.blocks.emplace_back(block + 8, size);
      ++counts.allocated;
      return block + 8;
    };
    stub_.se.host_memory_deallocate = [](const SP_Device*, void* data) {
      absl::MutexLock lock(&counts_mutex);
      ++counts.freed;
      counts.ends.push_back("host_memory_deallocate");
      std::free(static_cast<char*>(data) - 8);
    };
    stub_.se.memcpy_htod = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to,
                              const void* from, uint64_t size, TF_Status* status) {
      absl::MutexLock lock(&counts_mutex);
      const bool is_pinned = IsPinned(from);
      if (!is_pinned && counts.slow_us > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(counts.slow_us));
      if (is_pinned) ++counts.pinned_copies;
      if (++counts.copies == counts.fails_at) TF_SetStatus(status, TF_ABORTED, "the copy fails");
      std::memcpy(to->opaque, from, size);
    };
    stub_.se.get_event_status = [](const SP_Device*, SP_Event) {
      return counts.hangs ? SE_EVENT_PENDING : SE_EVENT_COMPLETE;
    };
    stub_.platform_fns.destroy_device = [](const SP_Platform*, SP_Device*) {
      absl::MutexLock lock(&counts_mutex);
      counts.ends.push_back("destroy_device");
    };
  }
  ~HostStagingTest() override { unsetenv("TENON_HOST_STAGING"); }

  void StartWith(const char* mode) {
    setenv("TENON_HOST_STAGING", mode, 1);
    Start();
  }
  HostStagingFacts Facts() { return *HostStagingOf(*device_); }
  // Copies `host` to new device memory, and checks what arrives.
  void CopyIn(const Tensor& host) {
    const auto there = CopyOnDevice(host, *device_, 60);
    ASSERT_TRUE(there.ok()) << there.status();
    EXPECT_EQ(std::memcmp(there->data(), host.data(), host.bytes()), 0);
  }
};

Tensor Counted(size_t bytes) {
  std::vector<int32_t> values(bytes / 4);
  std::iota(values.begin(), values.end(), 7);
  return Tensor::Of<int32_t>(DataType::kInt32, values,
                             Shape({static_cast<int64_t>(values.size())}));
}

TEST_F(HostStagingTest, LargeCopiesGoThroughBlocksThatAreUsedAgain) {
  StartWith("on");
  const Tensor host = Counted(9 * kMiB);
  CopyIn(host);
  EXPECT_EQ(counts.copies, counts.pinned_copies);
  EXPECT_GE(counts.copies, 3) << "a block is 4 MiB at most";
  const int allocated = counts.allocated;
  EXPECT_GE(allocated, 1);
  for (int i = 0; i < 200; ++i) CopyIn(host);
  EXPECT_EQ(counts.allocated, allocated);
  EXPECT_EQ(counts.copies, counts.pinned_copies);
  EXPECT_EQ(Facts().staged, 201);
  EXPECT_EQ(Facts().mode, "on");
}

TEST_F(HostStagingTest, SmallCopiesDoNot) {
  StartWith("on");
  CopyIn(Counted(4096));
  EXPECT_EQ(counts.allocated, 0);
  EXPECT_EQ(counts.copies, 1);
}

TEST_F(HostStagingTest, MemoryOfThePoolNeedsNone) {
  StartWith("on");
  const Tensor there = *CopyOnDevice(Counted(kMiB), *device_, 60);
  const Tensor back = *CopyAcross(there, device_.get(), nullptr);
  EXPECT_TRUE(IsPinned(back.data()));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(back.data()) % kTensorAlignment, 0);
  const int before = counts.copies;
  CopyIn(back);
  EXPECT_EQ(counts.copies, before + 1);
  EXPECT_EQ(Facts().straight, 1);
  EXPECT_EQ(Facts().pool_targets, 1);
}

TEST_F(HostStagingTest, SeveralThreadsFillBlocks) {
  StartWith("on");
  const auto loop = [](int64_t n, absl::FunctionRef<void(int64_t)> body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int64_t i = t; i < n; i += 4) body(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  const Tensor host = Counted(9 * kMiB + 4);
  const Tensor to = *AllocateLike(host, device_.get());
  for (int i = 0; i < 20; ++i) {
    std::memset(to.data(), 0, to.bytes());
    const CopyScope scope(60, 4, loop);
    ASSERT_TRUE(device_->CopyHostToDevice(device_->host_to_device_stream(), host, to).ok());
    EXPECT_EQ(std::memcmp(to.data(), host.data(), host.bytes()), 0);
  }
  EXPECT_EQ(counts.copies, counts.pinned_copies);
}

TEST_F(HostStagingTest, WithoutHostMemoryCopiesGoAsBefore) {
  stub_.se.host_memory_allocate = [](const SP_Device*, uint64_t) -> void* {
    ++counts.asked;
    return nullptr;
  };
  for (const char* mode : {"on", "auto"}) {
    counts.asked = counts.copies = 0;
    StartWith(mode);
    for (int i = 0; i < 20; ++i) CopyIn(Counted(3 * kMiB));
    EXPECT_EQ(counts.copies, 20);
    EXPECT_LE(counts.asked, 2);
    EXPECT_EQ(Facts().staged, 0);
    EXPECT_THAT(Facts().why, HasSubstr("host_memory_allocate gave no memory"));
    const Tensor there = *CopyOnDevice(Counted(kMiB), *device_, 60);
    EXPECT_TRUE(CopyAcross(there, device_.get(), nullptr).ok());
    EXPECT_EQ(Facts().pool_targets, 0);
  }
}

TEST_F(HostStagingTest, AThrowIsNoMemory) {
  stub_.se.host_memory_allocate = [](const SP_Device*, uint64_t) -> void* { throw 1; };
  StartWith("on");
  CopyIn(Counted(3 * kMiB));
  EXPECT_EQ(counts.copies, 1);
  EXPECT_NE(Facts().why, "");
}

TEST_F(HostStagingTest, ACopyThatFailsIsTheError) {
  StartWith("on");
  counts.fails_at = 2;
  const auto there = CopyOnDevice(Counted(7 * kMiB), *device_, 60);
  EXPECT_EQ(there.status().code(), absl::StatusCode::kAborted) << there.status();
  EXPECT_EQ(counts.copies, 2);
  CopyIn(Counted(7 * kMiB));
}

TEST_F(HostStagingTest, AHungDeviceCostsTheTimeLimit) {
  StartWith("on");
  counts.hangs = true;
  const testing::LeaksOnPurpose both_ends_of_the_copy;
  // More than all blocks hold: the copy waits for one.
  const auto there = CopyOnDevice(Counted(80 * kMiB), *device_, 0.05);
  EXPECT_EQ(there.status().code(), absl::StatusCode::kDeadlineExceeded) << there.status();
  counts.hangs = false;
  CopyIn(Counted(80 * kMiB));
}

TEST_F(HostStagingTest, TheFirstLargeCopyShowsWhatIsFaster) {
  counts.slow_us = 20000;
  StartWith("auto");
  EXPECT_EQ(Facts().mode, "undecided");
  CopyIn(Counted(kMiB));
  EXPECT_EQ(Facts().mode, "on") << Facts().why;
  EXPECT_EQ(Facts().staged, 1);
  counts = Counts();
  Start();
  counts.slow_us = 0;
  CopyIn(Counted(16 * kMiB));
  EXPECT_NE(Facts().mode, "undecided") << Facts().why;
  EXPECT_EQ(Facts().staged + Facts().unstaged, 1);
}

TEST_F(HostStagingTest, OffMeansThatThePlugInIsNotAsked) {
  StartWith("off");
  CopyIn(Counted(3 * kMiB));
  const Tensor there = *CopyOnDevice(Counted(kMiB), *device_, 60);
  EXPECT_TRUE(CopyAcross(there, device_.get(), nullptr).ok());
  EXPECT_EQ(counts.allocated, 0);
  EXPECT_EQ(Facts().mode, "off");
}

TEST_F(HostStagingTest, HostMemoryOutlivesTheDevice) {
  StartWith("on");
  Tensor there = *CopyOnDevice(Counted(kMiB), *device_, 60);
  Tensor back = *CopyAcross(there, device_.get(), nullptr);
  there.Clear();
  device_.reset();
  EXPECT_THAT(counts.ends, ::testing::IsEmpty());
  EXPECT_EQ(std::memcmp(back.data(), Counted(kMiB).data(), kMiB), 0);
  back.Clear();
  ASSERT_FALSE(counts.ends.empty());
  EXPECT_EQ(counts.ends.back(), "destroy_device");
  EXPECT_EQ(counts.freed, counts.allocated);
}

TEST_F(HostStagingTest, HostMemoryThatCannotBeFreedIsAWarning) {
  stub_.se.host_memory_deallocate = [](const SP_Device*, void*) { throw std::runtime_error("no"); };
  StartWith("on");
  CopyIn(Counted(kMiB));
  ::testing::internal::CaptureStderr();
  device_.reset();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("host_memory_deallocate"));
  EXPECT_THAT(counts.ends, ::testing::ElementsAre("destroy_device"));
  for (const auto& [block, size] : counts.blocks) std::free(block - 8);
}

}  // namespace
}  // namespace tenon
