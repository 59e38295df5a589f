#include "plugin/cpu/linalg/products/byte_constant.h"

#include "absl/strings/str_cat.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<ByteConstant> ByteConstant::Pack(Prepare& p, int i, const ByteRightSide& side,
                                                int64_t parts) {
  ByteConstant constant;
  const Tensor* const value = p.input_value(i);
  if (value == nullptr || value->num_elements() == 0) return constant;
  const size_t bytes = side.WholeBytes(parts);
  const std::string key = absl::StrCat("bytes ", side.Form(), " in ", parts);
  const auto packed =
      p.session().GetPacked(value->data(), key, [&]() -> std::shared_ptr<const void> {
        const auto memory = PackedBytes::Make(bytes);
        if (memory != nullptr) side.PackWhole(p.workers(), value->data(), parts, memory->data);
        return memory;
      });
  if (packed == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for packed weights of ", bytes, " bytes"));
  }
  constant.packed_ = std::static_pointer_cast<const PackedBytes>(packed);
  p.DropInput(i);
  return constant;
}

}  // namespace tenon::cpu
