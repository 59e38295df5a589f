// The APU's memory, streams and events, driven through its function table.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <vector>

#include "tests/apu/fake_host.h"

namespace tenon::testing {
namespace {

class ApuDeviceTest : public ::testing::Test {
 protected:
  SP_DeviceMemoryBase Allocate(uint64_t size) {
    SP_DeviceMemoryBase memory = {SP_DEVICE_MEMORY_BASE_STRUCT_SIZE, nullptr, nullptr, 0, 0};
    apu_.table.allocate(&apu_.device, size, 0, &memory);
    return memory;
  }

  SP_Stream NewStream() {
    SP_Stream stream = nullptr;
    apu_.table.create_stream(&apu_.device, &stream, &apu_.status);
    return stream;
  }

  SP_Event NewEvent() {
    SP_Event event = nullptr;
    apu_.table.create_event(&apu_.device, &event, &apu_.status);
    return event;
  }

  // Holds the stream back until the promise is set.
  void Block(SP_Stream stream, std::promise<void>* gate) {
    const auto wait = [](void* argument, TF_Status*) {
      static_cast<std::promise<void>*>(argument)->get_future().wait();
    };
    EXPECT_EQ(apu_.table.host_callback(&apu_.device, stream, wait, gate), 1);
  }

  void ExpectOk() { EXPECT_EQ(apu_.status.code, TF_OK) << apu_.status.message; }

  ApuDevice apu_;
};

TEST_F(ApuDeviceTest, FillsInWhatTheHostRequires) {
  EXPECT_STREQ(apu_.platform.name, "APU");
  EXPECT_STREQ(apu_.platform.type, "APU");
  EXPECT_EQ(apu_.platform.use_bfc_allocator, 1);
  EXPECT_EQ(apu_.platform.force_memory_growth, 1);
  EXPECT_EQ(apu_.platform.struct_size, 35u);
  EXPECT_EQ(apu_.table.struct_size, 288u);
  EXPECT_EQ(apu_.device.ordinal, 0);
  int count = 0;
  apu_.platform_fns.get_device_count(&apu_.platform, &count, &apu_.status);
  EXPECT_EQ(count, 1);
}

TEST_F(ApuDeviceTest, HostCannotTouchDeviceMemory) {
  SP_DeviceMemoryBase memory = Allocate(4096);
  ASSERT_NE(memory.opaque, nullptr);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_EQ(write(pipe_ends[1], memory.opaque, 1), -1);
  EXPECT_EQ(errno, EFAULT);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST_F(ApuDeviceTest, AddressesCanBeComputedWith) {
  SP_DeviceMemoryBase block = Allocate(1 << 20);
  SP_DeviceMemoryBase inside = block;
  inside.opaque = static_cast<char*>(block.opaque) + 768;
  const std::vector<float> sent = {1, 2, 3, 4};
  std::vector<float> received(4);
  apu_.table.sync_memcpy_htod(&apu_.device, &inside, sent.data(), 16, &apu_.status);
  apu_.table.sync_memcpy_dtoh(&apu_.device, received.data(), &inside, 16, &apu_.status);
  ExpectOk();
  EXPECT_EQ(received, sent);
}

TEST_F(ApuDeviceTest, MemoryComesBack) {
  int64_t free = 0, total = 0, free_later = 0;
  ASSERT_EQ(apu_.table.device_memory_usage(&apu_.device, &free, &total), 1);
  EXPECT_EQ(free, total);
  const auto whole = static_cast<uint64_t>(total);
  std::vector<SP_DeviceMemoryBase> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(Allocate(whole / 4));
  for (const SP_DeviceMemoryBase& block : blocks) EXPECT_NE(block.opaque, nullptr);
  EXPECT_EQ(Allocate(1).opaque, nullptr);
  for (int i : {2, 0, 3, 1}) {
    blocks[static_cast<size_t>(i)].size = 0;  // all that the host still knows is the address
    apu_.table.deallocate(&apu_.device, &blocks[static_cast<size_t>(i)]);
  }
  apu_.table.device_memory_usage(&apu_.device, &free_later, &total);
  EXPECT_EQ(free_later, free);
  EXPECT_NE(Allocate(whole).opaque, nullptr);

  SP_AllocatorStats stats = {};
  EXPECT_EQ(apu_.table.get_allocator_stats(&apu_.device, &stats), 1);
  EXPECT_EQ(stats.num_allocs, 5);
  EXPECT_EQ(stats.bytes_in_use, total);
  EXPECT_EQ(stats.largest_alloc_size, total);
  EXPECT_EQ(stats.largest_free_block_bytes, 0);
}

TEST_F(ApuDeviceTest, HostAddressIsAnError) {
  SP_Stream stream = NewStream();
  float host = 0;
  SP_DeviceMemoryBase wrong = {SP_DEVICE_MEMORY_BASE_STRUCT_SIZE, nullptr, &host, 4, 0};
  apu_.table.memcpy_dtoh(&apu_.device, stream, &host, &wrong, 4, &apu_.status);
  EXPECT_EQ(apu_.status.code, TF_INVALID_ARGUMENT);
  apu_.table.destroy_stream(&apu_.device, stream);
}

TEST_F(ApuDeviceTest, StreamsWorkWhileTheHostGoesOn) {
  SP_Stream slow = NewStream(), fast = NewStream();
  SP_Event slow_done = NewEvent(), fast_done = NewEvent();
  EXPECT_EQ(apu_.table.get_event_status(&apu_.device, slow_done), SE_EVENT_COMPLETE);
  std::promise<void> gate;
  Block(slow, &gate);
  apu_.table.record_event(&apu_.device, slow, slow_done, &apu_.status);
  apu_.table.record_event(&apu_.device, fast, fast_done, &apu_.status);
  apu_.table.block_host_for_event(&apu_.device, fast_done, &apu_.status);
  EXPECT_EQ(apu_.table.get_event_status(&apu_.device, fast_done), SE_EVENT_COMPLETE);
  EXPECT_EQ(apu_.table.get_event_status(&apu_.device, slow_done), SE_EVENT_PENDING);
  gate.set_value();
  apu_.table.synchronize_all_activity(&apu_.device, &apu_.status);
  EXPECT_EQ(apu_.table.get_event_status(&apu_.device, slow_done), SE_EVENT_COMPLETE);
  ExpectOk();
  for (SP_Event event : {slow_done, fast_done}) apu_.table.destroy_event(&apu_.device, event);
  for (SP_Stream stream : {slow, fast}) apu_.table.destroy_stream(&apu_.device, stream);
}

// A value goes through three streams; each hop waits for the one before in another way.
TEST_F(ApuDeviceTest, DependenciesOrderStreams) {
  SP_Stream in = NewStream(), middle = NewStream(), out = NewStream();
  SP_Event copied = NewEvent();
  SP_DeviceMemoryBase a = Allocate(1024), b = Allocate(1024);
  for (int32_t round = 1; round <= 50; ++round) {
    const std::vector<int32_t> sent(256, round);
    std::vector<int32_t> received(256);
    std::promise<void> gate;
    Block(in, &gate);
    apu_.table.memcpy_htod(&apu_.device, in, &a, sent.data(), 1024, &apu_.status);
    apu_.table.create_stream_dependency(&apu_.device, middle, in, &apu_.status);
    apu_.table.memcpy_dtod(&apu_.device, middle, &b, &a, 1024, &apu_.status);
    apu_.table.record_event(&apu_.device, middle, copied, &apu_.status);
    apu_.table.wait_for_event(&apu_.device, out, copied, &apu_.status);
    apu_.table.memcpy_dtoh(&apu_.device, out, received.data(), &b, 1024, &apu_.status);
    gate.set_value();
    apu_.table.block_host_until_done(&apu_.device, out, &apu_.status);
    ExpectOk();
    ASSERT_EQ(received, sent);
  }
  apu_.table.destroy_event(&apu_.device, copied);
  for (SP_Stream stream : {in, middle, out}) apu_.table.destroy_stream(&apu_.device, stream);
}

TEST_F(ApuDeviceTest, Fills) {
  SP_Stream stream = NewStream();
  SP_DeviceMemoryBase memory = Allocate(12);
  std::vector<uint32_t> words(3);
  const auto read = [&] {
    apu_.table.memcpy_dtoh(&apu_.device, stream, words.data(), &memory, 12, &apu_.status);
    apu_.table.block_host_until_done(&apu_.device, stream, &apu_.status);
    return words;
  };
  apu_.table.memset32(&apu_.device, stream, &memory, 0x01020304, 12, &apu_.status);
  EXPECT_EQ(read(), std::vector<uint32_t>(3, 0x01020304));
  apu_.table.memset(&apu_.device, stream, &memory, 0xab, 4, &apu_.status);
  EXPECT_EQ(read(), (std::vector<uint32_t>{0xabababab, 0x01020304, 0x01020304}));
  apu_.table.mem_zero(&apu_.device, stream, &memory, 8, &apu_.status);
  EXPECT_EQ(read(), (std::vector<uint32_t>{0, 0, 0x01020304}));
  ExpectOk();
  apu_.table.destroy_stream(&apu_.device, stream);
}

TEST_F(ApuDeviceTest, DestroyedStreamsHaveDoneTheirWork) {
  std::atomic<int> calls = 0;
  SP_Stream stream = NewStream();
  const auto count = [](void* argument, TF_Status*) {
    ++*static_cast<std::atomic<int>*>(argument);
  };
  for (int i = 0; i < 100; ++i) {
    apu_.table.host_callback(&apu_.device, stream, count, &calls);
  }
  apu_.table.destroy_stream(&apu_.device, stream);
  EXPECT_EQ(calls, 100);
}

TEST(ApuLibraryTest, UnloadsAndLoadsAgain) {
  for (int i = 0; i < 20; ++i) {
    ApuDevice apu;
    SP_Stream stream = nullptr;
    apu.table.create_stream(&apu.device, &stream, &apu.status);
    apu.table.destroy_stream(&apu.device, stream);
  }
  EXPECT_FALSE(ApuLibrary::IsLoaded());
}

// TensorFlow never destroys a stream: the library's destructors have to end the threads.
TEST(ApuLibraryDeathTest, UnloadsUnderLiveStreams) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave = [] {
    ApuDevice apu;
    SP_Stream one = nullptr, two = nullptr;
    apu.table.create_stream(&apu.device, &one, &apu.status);
    apu.table.create_stream(&apu.device, &two, &apu.status);
    for (int i = 0; i < 1000; ++i) {
      apu.table.create_stream_dependency(&apu.device, i % 2 ? one : two, i % 2 ? two : one,
                                         &apu.status);
    }
    apu.library.Close();
    _exit(ApuLibrary::IsLoaded() ? 1 : 0);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tenon::testing
