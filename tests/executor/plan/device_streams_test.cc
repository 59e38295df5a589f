#include "executor/plan/steps/device_streams.h"

#include "gtest/gtest.h"
#include "plugin/device/compute_streams.h"
#include "tests/executor/bare_device_util.h"

namespace tenon {
namespace {

class TestDevice : public testing::BareDevice, public ComputeStreams {
 public:
  std::string_view type() const override { return "TEST"; }
  int MakeComputeStreams(int count) override { return count; }
  StreamHandle compute_stream_at(int) override { return this; }
  absl::StatusOr<BufferRef> AllocateOn(int, size_t bytes) override { return Allocate(bytes); }
  absl::Status StreamWaitsForEvent(StreamHandle, EventHandle) override { return absl::OkStatus(); }
};

class DeviceStreamsTest : public ::testing::Test {
 protected:
  // How many waits a copy to the host needs behind work with this ticket.
  size_t Waits(const DeviceStream& stream, int64_t ticket, int32_t alive = FlagTree::kAlways) {
    return WaitsOn({stream.device, StreamKind::kDeviceToHost}, stream, ticket, alive);
  }
  size_t WaitsOn(const DeviceStream& waiting, const DeviceStream& stream, int64_t ticket,
                 int32_t alive = FlagTree::kAlways) {
    std::vector<StreamWait> waits;
    streams_.WaitFor(waiting, stream, ticket, alive, waits);
    return waits.size();
  }

  TestDevice one_, two_;
  StepGraph graph_;
  DeviceStreams streams_{graph_};
};

TEST_F(DeviceStreamsTest, AWaitCoversAllThatWasQueuedBefore) {
  const int64_t first = streams_.NextTicket({&one_}), second = streams_.NextTicket({&one_});
  EXPECT_LT(first, second);
  EXPECT_EQ(Waits({&one_}, first), 1u);
  EXPECT_EQ(Waits({&one_}, second), 0u);
  EXPECT_EQ(Waits({&one_}, streams_.NextTicket({&one_})), 1u);
}

TEST_F(DeviceStreamsTest, DevicesAndStreamsWaitForThemselves) {
  const int64_t ticket = streams_.NextTicket({&one_});
  EXPECT_EQ(Waits({&one_}, ticket), 1u);
  EXPECT_EQ(Waits({&two_}, streams_.NextTicket({&two_})), 1u);
  const DeviceStream copies = {&one_, StreamKind::kDeviceToDevice};
  EXPECT_EQ(WaitsOn(copies, {&one_}, ticket), 1u);
  EXPECT_EQ(WaitsOn(copies, {&two_}, streams_.LastTicket({&two_})), 1u);
  EXPECT_EQ(graph_.devices, (std::vector<Device*>{&one_, &two_}));
}

TEST_F(DeviceStreamsTest, TheFirstWaitOfARunIsNeverImplied) {
  streams_.Use(&one_);
  EXPECT_EQ(Waits({&one_}, streams_.LastTicket({&one_})), 1u);
}

TEST_F(DeviceStreamsTest, StepsThatMayBeSkippedTeachNothing) {
  const int64_t ticket = streams_.NextTicket({&one_});
  EXPECT_EQ(Waits({&one_}, ticket, 3), 1u);
  EXPECT_EQ(Waits({&one_}, ticket, 3), 1u);
  EXPECT_EQ(Waits({&one_}, ticket), 1u);
  EXPECT_EQ(Waits({&one_}, ticket, 3), 0u);
}

TEST_F(DeviceStreamsTest, WhereWorkComesInAnyOrderNoWaitImpliesAnother) {
  const int64_t ticket = streams_.NextTicket({&one_});
  streams_.UseInAnyOrder({&one_});
  EXPECT_EQ(Waits({&one_}, ticket), 1u);
  EXPECT_EQ(Waits({&one_}, ticket), 1u);
  const int64_t other = streams_.NextTicket({&two_});
  EXPECT_EQ(Waits({&two_}, other), 1u);
  EXPECT_EQ(Waits({&two_}, other), 0u);
}

// Two compute streams of one device, which wait for each other.
TEST_F(DeviceStreamsTest, AWaitCoversWhatTheOtherStreamHasWaitedFor) {
  const DeviceStream first = {&one_}, second = {&one_, StreamKind::kCompute, 1};
  const int64_t a = streams_.NextTicket(first);
  EXPECT_EQ(WaitsOn(second, first, a), 1u);
  const int64_t b = streams_.NextTicket(second);
  EXPECT_EQ(Waits(second, b), 1u);
  EXPECT_EQ(Waits(first, a), 0u) << "the second stream has waited for it";
  EXPECT_EQ(WaitsOn(first, second, b), 1u);
  EXPECT_EQ(Waits(first, streams_.NextTicket(first)), 1u);
  EXPECT_EQ(Waits(second, streams_.NextTicket(second)), 1u) << "queued after the wait";
}

TEST_F(DeviceStreamsTest, LoopsAroundKnowThatTheyUseDevices) {
  graph_.loops.resize(3);
  graph_.loops[1].parent = 0;
  graph_.open_loop = 1;
  const int64_t ticket = streams_.NextTicket({&one_});
  EXPECT_TRUE(graph_.loops[0].uses_devices);
  EXPECT_TRUE(graph_.loops[1].uses_devices);
  EXPECT_FALSE(graph_.loops[2].uses_devices);
  // The next pass has work that this one's wait does not cover.
  EXPECT_EQ(Waits({&one_}, ticket), 1u);
  EXPECT_EQ(Waits({&one_}, ticket), 1u);
}

}  // namespace
}  // namespace tenon
