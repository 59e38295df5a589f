// The table between host and plug-in, driven as a host would, and as no host should.
#include "plugin/host/strict/strict_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "graph/c_api/abi_watch.h"
#include "graph/c_api/callback_scope.h"
#include "plugin/host/strict/device_watch.h"
#include "tests/plugin/host/devices/stub_device_util.h"

namespace tenon::testing::strict_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

SE_EventStatus answer = SE_EVENT_COMPLETE;

// Host callbacks run at once, unless they are held.
bool hold_callbacks = false;
std::vector<std::pair<SE_StatusCallbackFn, void*>> held_callbacks;
TF_Bool HostCallback(const SP_Device*, SP_Stream, SE_StatusCallbackFn callback, void* argument) {
  if (hold_callbacks) {
    held_callbacks.emplace_back(callback, argument);
  } else {
    callback(argument, nullptr);
  }
  return 1;
}
void RunCallbacks() {
  for (const auto& [callback, argument] : std::exchange(held_callbacks, {}))
    callback(argument, nullptr);
}

class StrictTableTest : public ::testing::Test {
 protected:
  StrictTableTest() {
    AbiWatch::SwitchOn();
    SP_StreamExecutor real = DefaultStub().se;
    real.allocate = [](const SP_Device*, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
      memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
      memory->opaque = std::aligned_alloc(64, (size + 63) / 64 * 64);
    };
    real.deallocate = [](const SP_Device*, SP_DeviceMemoryBase* m) { std::free(m->opaque); };
    real.get_event_status = [](const SP_Device*, SP_Event) { return answer; };
    real.create_stream = [](const SP_Device*, SP_Stream* s, TF_Status*) { *s = new SP_Stream_st; };
    real.destroy_stream = [](const SP_Device*, SP_Stream s) { delete s; };
    real.create_event = [](const SP_Device*, SP_Event* e, TF_Status*) { *e = new SP_Event_st; };
    real.destroy_event = [](const SP_Device*, SP_Event e) { delete e; };
    real.memcpy_htod = [](const SP_Device*, SP_Stream, SP_DeviceMemoryBase*, const void*, uint64_t,
                          TF_Status*) {};
    real.memcpy_dtoh = [](const SP_Device*, SP_Stream, void*, const SP_DeviceMemoryBase*, uint64_t,
                          TF_Status*) {};
    real.record_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status*) {};
    real.wait_for_event = [](const SP_Device*, SP_Stream, SP_Event, TF_Status*) {};
    real.synchronize_all_activity = [](const SP_Device*, TF_Status*) {};
    real.create_stream_dependency = [](const SP_Device*, SP_Stream, SP_Stream, TF_Status*) {};
    real.host_callback = HostCallback;
    answer = SE_EVENT_COMPLETE;
    hold_callbacks = false;
    WatchDevice(nullptr, &device_, "stub.so", real);
    table_ = StrictTable(real);
    table_.create_stream(&device_, &first_, status_);
    table_.create_stream(&device_, &second_, status_);
    table_.create_event(&device_, &event_, status_);
    memory_.opaque = nullptr;
    table_.allocate(&device_, kBytes, 0, &memory_);
  }
  ~StrictTableTest() override {
    AbiWatch::SwitchOff();
    TF_DeleteStatus(status_);
  }

  void Free() { table_.deallocate(&device_, &memory_); }
  void CopyIn(SP_Stream stream) {
    table_.memcpy_htod(&device_, stream, &memory_, host_, kBytes, status_);
  }
  void Record(SP_Stream stream) { table_.record_event(&device_, stream, event_, status_); }
  SE_EventStatus Poll() { return table_.get_event_status(&device_, event_); }
  void End() {
    table_.destroy_event(&device_, event_);
    table_.destroy_stream(&device_, first_);
    table_.destroy_stream(&device_, second_);
    EndDeviceWatch(&device_);
  }
  static std::vector<std::string> Details(std::string_view rule) {
    std::vector<std::string> details;
    for (const AbiViolation& violation : AbiWatch::Active()->violations()) {
      if (violation.rule == rule) details.push_back(violation.detail);
    }
    return details;
  }
  static std::vector<std::string> Rules() {
    std::vector<std::string> rules;
    for (const AbiViolation& violation : AbiWatch::Active()->violations())
      rules.push_back(violation.rule);
    return rules;
  }

  static constexpr uint64_t kBytes = 64;
  char host_[kBytes] = {};
  SP_Device device_{};
  SP_StreamExecutor table_{};
  SP_Stream first_ = nullptr, second_ = nullptr;
  SP_Event event_ = nullptr;
  SP_DeviceMemoryBase memory_{};
  TF_Status* status_ = TF_NewStatus();
};

TEST_F(StrictTableTest, AWholeLifeIsClean) {
  CopyIn(first_);
  Record(first_);
  EXPECT_EQ(Poll(), SE_EVENT_COMPLETE);
  Free();
  End();
  EXPECT_THAT(Rules(), IsEmpty());
}

TEST_F(StrictTableTest, MemoryIsNotFreedWhileWorkUsesIt) {
  CopyIn(first_);
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("free_before_done"));
}

TEST_F(StrictTableTest, AnEventOfAnotherStreamIsNotEnough) {
  CopyIn(first_);
  Record(second_);
  Poll();
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("free_before_done"));
}

TEST_F(StrictTableTest, AnEventOfAStreamThatWaitedIs) {
  CopyIn(first_);
  table_.create_stream_dependency(&device_, second_, first_, status_);
  Record(second_);
  Poll();
  Free();
  End();
  EXPECT_THAT(Rules(), IsEmpty());
}

TEST_F(StrictTableTest, SynchronizationIsEnough) {
  CopyIn(first_);
  table_.synchronize_all_activity(&device_, status_);
  Free();
  End();
  EXPECT_THAT(Rules(), IsEmpty());
}

TEST_F(StrictTableTest, AddressesAreOfTheirSpace) {
  SP_DeviceMemoryBase wrong = memory_;
  wrong.opaque = host_;
  table_.memcpy_htod(&device_, first_, &wrong, host_, kBytes, status_);
  table_.memcpy_dtoh(&device_, first_, memory_.opaque, &memory_, kBytes, status_);
  wrong.opaque = static_cast<char*>(memory_.opaque) + 8;
  table_.memcpy_htod(&device_, first_, &wrong, host_, kBytes, status_);
  table_.synchronize_all_activity(&device_, status_);
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("device_pointer", "host_pointer", "device_pointer"));
}

TEST_F(StrictTableTest, EventsAreRecordedBeforeTheyAreWaitedFor) {
  table_.wait_for_event(&device_, first_, event_, status_);
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("event_not_recorded"));
}

TEST_F(StrictTableTest, WhatIsCompleteStaysComplete) {
  Record(first_);
  Poll();
  answer = SE_EVENT_PENDING;
  Poll();
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("event_goes_back"));
}

TEST_F(StrictTableTest, AfterASynchronizationNothingIsPending) {
  Record(first_);
  table_.synchronize_all_activity(&device_, status_);
  answer = SE_EVENT_PENDING;
  Poll();
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("event_goes_back"));
}

TEST_F(StrictTableTest, WhatIsRecordedAgainMayBePending) {
  Record(first_);
  Poll();
  Record(first_);
  answer = SE_EVENT_PENDING;
  Poll();
  Free();
  End();
  EXPECT_THAT(Rules(), IsEmpty());
}

TEST_F(StrictTableTest, NothingIsFreedTwice) {
  Free();
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("double_free"));
}

TEST_F(StrictTableTest, WhatIsLeftIsNamed) {
  const CallbackScope ending("stub.so", "here", "n");
  SP_Stream third = nullptr;
  table_.create_stream(&device_, &third, status_);
  EndDeviceWatch(&device_);
  EXPECT_THAT(Details("leak"),
              UnorderedElementsAre(HasSubstr("64 bytes of device memory"), HasSubstr("a stream"),
                                   HasSubstr("a stream"), HasSubstr("an event")));
  EXPECT_TRUE(std::ranges::any_of(AbiWatch::Active()->violations(), [](const AbiViolation& v) {
    return v.plugin == "stub.so" && v.callback == "here" && v.node == "n";
  }));
  std::free(memory_.opaque);
  delete first_;
  delete second_;
  delete third;
  delete event_;
}

// --- Whether streams are done when the plug-in says so.

TEST_F(StrictTableTest, AnEventIsNotCompleteBeforeItsStreamGotThere) {
  hold_callbacks = true;
  CopyIn(first_);
  Record(first_);
  Poll();
  Poll();  // said once
  RunCallbacks();
  table_.synchronize_all_activity(&device_, status_);
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("done_too_early"));
}

TEST_F(StrictTableTest, AStreamThatWaitsForAnotherIsNotDoneBeforeIt) {
  CopyIn(first_);
  hold_callbacks = true;
  table_.create_stream_dependency(&device_, second_, first_, status_);
  hold_callbacks = false;
  CopyIn(second_);
  Record(second_);
  Poll();
  RunCallbacks();
  Free();
  End();
  EXPECT_THAT(Rules(), ElementsAre("done_too_early"));
}

TEST_F(StrictTableTest, CallbacksMayComeALittleLater) {
  hold_callbacks = true;
  CopyIn(first_);
  Record(first_);
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    RunCallbacks();
  });
  Poll();
  later.join();
  Free();
  End();
  EXPECT_THAT(Rules(), IsEmpty());
}

TEST_F(StrictTableTest, ADeviceOfNobodyIsRefused) {
  SP_Device other{};
  EXPECT_THROW(table_.synchronize_all_activity(&other, status_), std::invalid_argument);
  Free();
  End();
}

}  // namespace
}  // namespace tenon::testing::strict_table_test
