// Attributes of a call as the C API takes them: of an eager op, or of a node. Used by the library's
// own headers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tenon/op_call.h"

namespace tenon::inline v0::internal {

// Sets an attribute that is a list, for SetAttr. Cold, as what names errors is in these headers:
// the compiler makes little of it, and a program that calls a few ops compiles faster.
template <typename Api, typename Op>
[[gnu::cold]] void SetListAttr(Op* op, const NamedAttr& attr, TF_Status* status) {
  using Kind = NamedAttr::Kind;
  const char* const name = attr.name.c_str();
  const auto count = [](const auto& list) { return static_cast<int>(list.size()); };
  switch (attr.kind) {
    case Kind::kBools: {
      const std::vector<unsigned char> values(attr.numbers.begin(), attr.numbers.end());
      return Api::kSetBools(op, name, values.data(), count(values));
    }
    case Kind::kInts:
      return Api::kSetInts(op, name, attr.numbers.data(), count(attr.numbers));
    case Kind::kFloats:
      return Api::kSetFloats(op, name, attr.reals.data(), count(attr.reals));
    case Kind::kStrings: {
      std::vector<const void*> values(attr.strings.size());
      std::vector<size_t> lengths(attr.strings.size());
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = attr.strings[i].data();
        lengths[i] = attr.strings[i].size();
      }
      return Api::kSetStrings(op, name, values.data(), lengths.data(), count(values));
    }
    case Kind::kTypes: {
      std::vector<TF_DataType> types(attr.numbers.size());
      for (size_t i = 0; i < types.size(); ++i)
        types[i] = static_cast<TF_DataType>(attr.numbers[i]);
      return Api::kSetTypes(op, name, types.data(), count(types));
    }
    case Kind::kShapes: {
      std::vector<const int64_t*> dims(attr.shapes.size());
      std::vector<int> ranks(attr.shapes.size());  // -1 where it is unknown
      for (size_t i = 0; i < dims.size(); ++i) {
        dims[i] = attr.shapes[i].dims().data();
        ranks[i] = attr.shapes[i].rank();
      }
      return Api::SetShapes(op, name, dims, ranks, status);
    }
    case Kind::kFunctions:
      return Api::SetFunctions(op, name, attr.functions, status);
    default:
      return;
  }
}

// Sets an attribute of `op`: a TFE_Op, or a TF_OperationDescription. Functions must be known to the
// context or the graph already. `Api` has the C API's functions for it. Writes an error to `status`
// as far as the C API says it here; other errors come with the op or the node. Throws for a tensor
// that has no value (Tensor::Host).
template <typename Api, typename Op>
void SetAttr(Op* op, const NamedAttr& attr, TF_Status* status) {
  using Kind = NamedAttr::Kind;
  const char* const name = attr.name.c_str();
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
    default:
      return SetListAttr<Api>(op, attr, status);
  }
}

}  // namespace tenon::inline v0::internal
