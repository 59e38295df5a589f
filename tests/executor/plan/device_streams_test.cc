#include "executor/plan/steps/device_streams.h"

#include "gtest/gtest.h"
#include "tests/executor/bare_device_util.h"

namespace tenon {
namespace {

class TestDevice : public testing::BareDevice {
 public:
  std::string_view type() const override { return "TEST"; }
};

class DeviceStreamsTest : public ::testing::Test {
 protected:
  // How many waits a copy to the host needs behind work with this ticket.
  size_t Waits(Device* device, int64_t ticket, int32_t alive = FlagTree::kAlways) {
    std::vector<StreamWait> waits;
    streams_.WaitForCompute(device, StreamKind::kDeviceToHost, device, ticket, alive, waits);
    return waits.size();
  }

  TestDevice one_, two_;
  StepGraph graph_;
  DeviceStreams streams_{graph_};
};

TEST_F(DeviceStreamsTest, AWaitCoversAllThatWasQueuedBefore) {
  const int64_t first = streams_.NextTicket(&one_), second = streams_.NextTicket(&one_);
  EXPECT_LT(first, second);
  EXPECT_EQ(Waits(&one_, first), 1u);
  EXPECT_EQ(Waits(&one_, second), 0u);
  EXPECT_EQ(Waits(&one_, streams_.NextTicket(&one_)), 1u);
}

TEST_F(DeviceStreamsTest, DevicesAndStreamsWaitForThemselves) {
  const int64_t ticket = streams_.NextTicket(&one_);
  EXPECT_EQ(Waits(&one_, ticket), 1u);
  EXPECT_EQ(Waits(&two_, streams_.NextTicket(&two_)), 1u);
  std::vector<StreamWait> waits;
  streams_.WaitForCompute(&one_, StreamKind::kDeviceToDevice, &one_, ticket, 0, waits);
  streams_.WaitForCompute(&one_, StreamKind::kDeviceToDevice, &two_, streams_.LastTicket(&two_), 0,
                          waits);
  EXPECT_EQ(waits.size(), 2u);
  EXPECT_EQ(graph_.devices, (std::vector<Device*>{&one_, &two_}));
}

TEST_F(DeviceStreamsTest, TheFirstWaitOfARunIsNeverImplied) {
  streams_.Use(&one_);
  EXPECT_EQ(Waits(&one_, streams_.LastTicket(&one_)), 1u);
}

TEST_F(DeviceStreamsTest, StepsThatMayBeSkippedTeachNothing) {
  const int64_t ticket = streams_.NextTicket(&one_);
  EXPECT_EQ(Waits(&one_, ticket, 3), 1u);
  EXPECT_EQ(Waits(&one_, ticket, 3), 1u);
  EXPECT_EQ(Waits(&one_, ticket), 1u);
  EXPECT_EQ(Waits(&one_, ticket, 3), 0u);
}

TEST_F(DeviceStreamsTest, WhereWorkComesInAnyOrderNoWaitImpliesAnother) {
  const int64_t ticket = streams_.NextTicket(&one_);
  streams_.UseInAnyOrder(&one_);
  EXPECT_EQ(Waits(&one_, ticket), 1u);
  EXPECT_EQ(Waits(&one_, ticket), 1u);
  const int64_t other = streams_.NextTicket(&two_);
  EXPECT_EQ(Waits(&two_, other), 1u);
  EXPECT_EQ(Waits(&two_, other), 0u);
}

TEST_F(DeviceStreamsTest, LoopsAroundKnowThatTheyUseDevices) {
  graph_.loops.resize(3);
  graph_.loops[1].parent = 0;
  graph_.open_loop = 1;
  const int64_t ticket = streams_.NextTicket(&one_);
  EXPECT_TRUE(graph_.loops[0].uses_devices);
  EXPECT_TRUE(graph_.loops[1].uses_devices);
  EXPECT_FALSE(graph_.loops[2].uses_devices);
  // The next pass has work that this one's wait does not cover.
  EXPECT_EQ(Waits(&one_, ticket), 1u);
  EXPECT_EQ(Waits(&one_, ticket), 1u);
}

}  // namespace
}  // namespace tenon
