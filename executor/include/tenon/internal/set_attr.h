// Attributes of a call as the C API takes them: of an eager op, or of a node. Used by the library's
// own headers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tenon/op_call.h"

namespace tenon::inline v0::internal {

// Sets an attribute of `op`: a TFE_Op, or a TF_OperationDescription. Functions must be known to the
// context or the graph already. `Api` has the C API's functions for it. Writes an error to `status`
// as far as the C API says it here; other errors come with the op or the node. Throws for a tensor
// that has no value (Tensor::Host).
template <typename Api, typename Op>
void SetAttr(Op* op, const NamedAttr& attr, TF_Status* status) {
  using Kind = NamedAttr::Kind;
  const char* const name = attr.name.c_str();
  const auto count = [](const auto& list) { return static_cast<int>(list.size()); };
  switch (attr.kind) {
    case Kind::kBool:
      return Api::kSetBool(op, name, attr.number != 0 ? 1 : 0);
    case Kind::kInt:
      return Api::kSetInt(op, name, attr.number);
    case Kind::kFloat:
      return Api::kSetFloat(op, name, attr.real);
    case Kind::kString:
      return Api::kSetString(op, name, attr.strings[0].data(), attr.strings[0].size());
    case Kind::kType:
      return Api::kSetType(op, name, static_cast<TF_DataType>(attr.number));
    case Kind::kShape:
      return Api::SetShape(op, name, attr.shapes[0], status);
    case Kind::kTensor:
      return Api::kSetTensor(op, name, attr.tensor.Host({}), status);
    case Kind::kFunction:
      return Api::kSetFunction(op, name, attr.functions[0].name.data(),
                               attr.functions[0].name.size());
    case Kind::kBools: {
      const std::vector<unsigned char> values(attr.numbers.begin(), attr.numbers.end());
      return Api::kSetBools(op, name, values.data(), count(values));
    }
    case Kind::kInts:
      return Api::kSetInts(op, name, attr.numbers.data(), count(attr.numbers));
    case Kind::kFloats:
      return Api::kSetFloats(op, name, attr.reals.data(), count(attr.reals));
    case Kind::kStrings: {
      std::vector<const void*> values;
      std::vector<size_t> lengths;
      for (const std::string& text : attr.strings) {
        values.push_back(text.data());
        lengths.push_back(text.size());
      }
      return Api::kSetStrings(op, name, values.data(), lengths.data(), count(values));
    }
    case Kind::kTypes: {
      std::vector<TF_DataType> types;
      for (const int64_t number : attr.numbers) types.push_back(static_cast<TF_DataType>(number));
      return Api::kSetTypes(op, name, types.data(), count(types));
    }
    case Kind::kShapes: {
      std::vector<const int64_t*> dims;
      std::vector<int> ranks;  // -1 where it is unknown
      for (const Shape& shape : attr.shapes) {
        dims.push_back(shape.dims().data());
        ranks.push_back(shape.rank());
      }
      return Api::SetShapes(op, name, dims, ranks, status);
    }
    case Kind::kFunctions:
      return Api::SetFunctions(op, name, attr.functions, status);
  }
}

}  // namespace tenon::inline v0::internal
