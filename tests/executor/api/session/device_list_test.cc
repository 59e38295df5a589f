// TF_DeviceList.
#include "tests/executor/api/session/session_util.h"

namespace tenon {
namespace {

using testing::CpuNames;
using testing::DeviceListPtr;
using testing::OpenSession;

class CDeviceList : public testing::GraphFixture {};

TEST_F(CDeviceList, TellsOfEachDevice) {
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 2;
  OpenSession session(g(), config), other(g(), config);
  const DeviceListPtr list(TF_SessionListDevices(session.get(), s()));
  const DeviceListPtr again(TF_SessionListDevices(session.get(), s()));
  const DeviceListPtr others(TF_SessionListDevices(other.get(), s()));
  EXPECT_THAT(CpuNames(list.get()),
              ::testing::ElementsAre("/job:localhost/replica:0/task:0/device:CPU:0",
                                     "/job:localhost/replica:0/task:0/device:CPU:1"));
  EXPECT_STREQ("CPU", TF_DeviceListType(list.get(), 0, s()));
  const int count = TF_DeviceListCount(list.get());
  ASSERT_EQ(count, TF_DeviceListCount(again.get()));
  ASSERT_EQ(count, TF_DeviceListCount(others.get()));
  for (int i = 0; i < count; ++i) {
    EXPECT_GT(TF_DeviceListMemoryBytes(list.get(), i, s()), 0);
    const uint64_t incarnation = TF_DeviceListIncarnation(list.get(), i, s());
    EXPECT_NE(0u, incarnation);
    EXPECT_EQ(incarnation, TF_DeviceListIncarnation(again.get(), i, s()));
    EXPECT_NE(incarnation, TF_DeviceListIncarnation(others.get(), i, s()));
    ExpectOk();
  }
  EXPECT_NE(TF_DeviceListIncarnation(list.get(), 0, s()),
            TF_DeviceListIncarnation(list.get(), 1, s()));
}

TEST_F(CDeviceList, IndicesAreChecked) {
  OpenSession session(g());
  const DeviceListPtr list(TF_SessionListDevices(session.get(), s()));
  for (const int i : {-1, TF_DeviceListCount(list.get()), INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(nullptr, TF_DeviceListName(list.get(), i, s()));
    EXPECT_EQ("index out of bounds", message());
    EXPECT_EQ(nullptr, TF_DeviceListType(list.get(), i, s()));
    EXPECT_EQ(-1, TF_DeviceListMemoryBytes(list.get(), i, s()));
    EXPECT_EQ(0u, TF_DeviceListIncarnation(list.get(), i, s()));
    EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  }
}

TEST_F(CDeviceList, AClosedSessionStillHasDevices) {
  OpenSession session(g());
  const DeviceListPtr before(TF_SessionListDevices(session.get(), s()));
  TF_CloseSession(session.get(), s());
  const DeviceListPtr list(TF_SessionListDevices(session.get(), s()));
  ExpectOk();
  EXPECT_GE(TF_DeviceListCount(list.get()), 1);
  EXPECT_EQ(TF_DeviceListCount(before.get()), TF_DeviceListCount(list.get()));
}

}  // namespace
}  // namespace tenon
