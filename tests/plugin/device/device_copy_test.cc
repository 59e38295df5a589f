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

}  // namespace
}  // namespace tenon
