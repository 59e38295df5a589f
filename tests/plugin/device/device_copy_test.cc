#include "plugin/device/device_copy.h"

#include "gtest/gtest.h"
#include "tests/executor/bare_device_util.h"

namespace tenon {
namespace {

// A device whose copies may never end, as far as the host learns.
class SlowDevice : public testing::BareDevice {
 public:
  explicit SlowDevice(absl::Status wait) : wait_(std::move(wait)) {}
  std::string_view type() const override { return "SLOW"; }
  absl::StatusOr<BufferRef> Allocate(size_t bytes) override {
    const auto release = [](void*, size_t, void* self) { ++static_cast<SlowDevice*>(self)->freed; };
    BufferRef made = BufferRef::Adopt(Buffer::OfDevice(memory_, bytes, release, this));
    target = made.get();
    return made;
  }
  absl::Status BlockUntilComplete(EventHandle, double) override { return wait_; }

  int freed = 0;
  Buffer* target = nullptr;

 private:
  const absl::Status wait_;
  char memory_[64] = {};
};

Tensor SomeFloats(SlowDevice& owner, float* data) {
  const auto release = [](void*, size_t, void* self) { ++static_cast<SlowDevice*>(self)->freed; };
  return Tensor(DataType::kFloat, Shape({2}),
                BufferRef::Adopt(Buffer::OfDevice(data, 2 * sizeof(float), release, &owner)));
}

TEST(DeviceCopy, KeepsWhatTheDeviceMayStillUse) {
  float data[2] = {1, 2};
  SlowDevice device(absl::DeadlineExceededError("late"));
  Buffer* source = nullptr;
  {
    const Tensor value = SomeFloats(device, data);
    source = value.buffer().get();
    EXPECT_EQ(CopyOnDevice(value, device, 1).status().code(), absl::StatusCode::kDeadlineExceeded);
  }
  EXPECT_EQ(device.freed, 0);
  source->Unref();
  device.target->Unref();
  EXPECT_EQ(device.freed, 2);
}

TEST(DeviceCopy, KeepsNothingThatIsDone) {
  float data[2] = {1, 2};
  SlowDevice device((absl::OkStatus()));
  { EXPECT_TRUE(CopyOnDevice(SomeFloats(device, data), device, 1).ok()); }
  EXPECT_EQ(device.freed, 2);
}

// A device that waits itself, or refuses a copy of which a part is queued.
class FailingDevice : public SlowDevice {
 public:
  FailingDevice(absl::Status copy, absl::Status wait)
      : SlowDevice(std::move(wait)), copy_(std::move(copy)) {}
  bool has_own_host_memory(size_t) const override { return true; }
  BufferRef AllocateHost(size_t bytes) override {
    const auto release = [](void*, size_t, void* self) { ++static_cast<SlowDevice*>(self)->freed; };
    BufferRef made = BufferRef::Adopt(Buffer::OfDevice(host_, bytes, release, this));
    target = made.get();
    return made;
  }
  absl::Status CopyHostToDevice(StreamHandle, const Tensor&, const Tensor&) override {
    return copy_;
  }
  absl::Status CopyDeviceToHost(StreamHandle, const Tensor&, const Tensor&) override {
    return copy_;
  }

 private:
  const absl::Status copy_;
  char host_[64] = {};
};

// The status of a copy to the device or from it. `freed`: of source and target.
void ExpectFreed(const absl::Status& copy, const absl::Status& wait, int freed) {
  for (const bool to_device : {true, false}) {
    float data[2] = {1, 2};
    FailingDevice device(copy, wait);
    Buffer* source = nullptr;
    {
      const Tensor value = SomeFloats(device, data);
      source = value.buffer().get();
      const absl::Status status =
          CopyAcross(value, to_device ? nullptr : &device, to_device ? &device : nullptr).status();
      EXPECT_EQ(status, copy);
    }
    EXPECT_EQ(device.freed, freed) << to_device;
    if (device.freed == 2) continue;
    source->Unref();
    device.target->Unref();
    EXPECT_EQ(device.freed, 2);
  }
}

TEST(DeviceCopy, KeepsWhatAFailedCopyMayStillUse) {
  ExpectFreed(absl::DeadlineExceededError("the device waited"), absl::OkStatus(), 0);
  ExpectFreed(absl::InternalError("a part is queued"), absl::DeadlineExceededError("late"), 0);
  ExpectFreed(absl::InternalError("a part was queued"), absl::OkStatus(), 2);
}

}  // namespace
}  // namespace tenon
