// A constant is a kind of node: nodes of one kind have one value, and so one entry here.

#include "graph/shapes/late_constants.h"

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon {

struct LateConstants::Decoded {
  absl::Mutex mutex;
  absl::flat_hash_map<uint32_t, std::unique_ptr<const TensorInfo>> infos ABSL_GUARDED_BY(mutex);
};

LateConstants::LateConstants() = default;
LateConstants::LateConstants(LateConstants&&) noexcept = default;
LateConstants& LateConstants::operator=(LateConstants&&) noexcept = default;
LateConstants::~LateConstants() = default;

LateConstants::LateConstants(const LateConstants& other) : kinds_(other.kinds_) {
  if (!kinds_.empty()) decoded_ = std::make_unique<Decoded>();
}

LateConstants& LateConstants::operator=(const LateConstants& other) {
  return *this = LateConstants(other);
}

bool LateConstants::Add(const NodeKind& kind) {
  if (kind.index < kinds_.size() && kinds_[kind.index] != nullptr)
    return kinds_[kind.index] == &kind;
  if (kind.op_name != "Const" || kind.types.outputs.size() != 1) return false;
  const AttrValue* const value = kind.attrs.Find("value");
  if (value == nullptr) return false;
  const absl::StatusOr<std::string_view> wire = value->AsTensorWire();
  if (!wire.ok() || !IsSmallAsWritten(*wire)) return false;
  if (kind.index >= kinds_.size()) kinds_.resize(kind.index + 1);
  kinds_[kind.index] = &kind;
  if (decoded_ == nullptr) decoded_ = std::make_unique<Decoded>();
  return true;
}

const TensorInfo& LateConstants::Info(uint32_t index) const {
  absl::MutexLock lock(&decoded_->mutex);
  std::unique_ptr<const TensorInfo>& info = decoded_->infos[index];
  if (info != nullptr) return *info;
  const NodeKind& kind = *kinds_[index];
  InferenceContext context(*kind.op, kind.attrs, kind.types, {});
  // Add has made sure that the value decodes: an error, of a plug-in's op, leaves it unknown.
  const bool ok = CallShapeFn(context).ok();
  info = std::make_unique<const TensorInfo>(ok ? std::move(context.output(0)) : TensorInfo());
  return *info;
}

}  // namespace tenon
