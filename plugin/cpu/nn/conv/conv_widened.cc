// Convolutions of half and bfloat16 as convolutions of floats: operands become floats, constant
// ones once, and the result is rounded.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/arrays/sub_kernels.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<SubTensor> Convert(SubKernels& parts, const SubTensor& from, DataType to) {
  return parts.Call("Cast", {{"DstT", attr::Type(to)}, {"SrcT", attr::Type(from.type)}}, to,
                    {from});
}

// The value as floats, which the session keeps. Null if there is no memory.
std::shared_ptr<const Tensor> WidenedConstant(const Prepare& p, const Tensor& value) {
  // Constants of several types and shapes may share their bytes.
  const std::string form =
      absl::StrCat("floats of ", DataTypeName(value.dtype()), " ", value.shape().ToString());
  const auto widened =
      p.session().GetPacked(value.data(), form, [&]() -> std::shared_ptr<const void> {
        absl::StatusOr<Tensor> floats = Tensor::Allocate(DataType::kFloat, value.shape());
        if (!floats.ok()) return nullptr;
        // The loops want aligned data, which a file's constants need not be.
        std::vector<uint16_t> narrow(static_cast<size_t>(value.num_elements()));
        std::memcpy(narrow.data(), value.data(), value.bytes());
        const void* const in[] = {narrow.data()};
        FindCastLoop(value.dtype(), DataType::kFloat)(in, floats->data(), value.num_elements(), 0);
        return std::make_shared<const Tensor>(*std::move(floats));
      });
  return std::static_pointer_cast<const Tensor>(widened);
}

}  // namespace

absl::Status PrepareWidenedConv(Prepare& p) {
  SubKernels parts(p);
  std::vector<std::shared_ptr<const Tensor>> values;
  std::vector<SubTensor> inputs;
  for (int i = 0; i < p.num_inputs(); ++i) {
    const SubTensor given = parts.Input(i);
    if (given.type == DataType::kFloat) {
      inputs.push_back(given);
      continue;
    }
    TENON_ASSIGN_OR_RETURN(SubTensor floats, Convert(parts, given, DataType::kFloat));
    if (given.value != nullptr)
      floats.value = values.emplace_back(WidenedConstant(p, *given.value)).get();
    inputs.push_back(std::move(floats));
  }
  std::vector<std::pair<std::string, std::string>> attrs;
  for (const Attr& attr : p.attrs().all()) {
    attrs.emplace_back(attr.name, attr.name == "T" ? attr::Type(DataType::kFloat)
                                                   : std::string(attr.value.wire()));
  }
  TENON_ASSIGN_OR_RETURN(const SubTensor result, parts.Call(p.op().name, std::move(attrs),
                                                            DataType::kFloat, std::move(inputs)));
  TENON_ASSIGN_OR_RETURN(const SubTensor rounded, Convert(parts, result, p.output_type(0)));
  parts.Finish({rounded});
  return absl::OkStatus();
}

}  // namespace tenon::cpu
