// Signatures of calls, by which the traces of a function are found (trace_table.h), and what visits
// the arguments and results of a call. Used by the library's own headers.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/internal/function_rep.h"
#include "tenon/internal/trace_report.h"
#include "tenon/structure.h"
#include "tenon/variable.h"

namespace tenon::inline v0::internal {

// One tensor among the arguments of a call.
struct ArgSpec {
  DType dtype = DType::kInvalid;
  Shape shape;
  int device = 0;    // of DeviceNumber
  std::string name;  // of a TensorSpec
  // What a handle stands for, types and shapes; null: nothing is known of that.
  std::shared_ptr<const std::string> handle_data;

  bool HasHandleDataOf(const ArgSpec& other) const {
    if (handle_data == nullptr || other.handle_data == nullptr)
      return handle_data == other.handle_data;
    return *handle_data == *other.handle_data;
  }
};

// A part of an argument in words: "3", "\"relu\"", "the variable \"w\"", "a tensor", "length 2".
struct ArgPart {
  size_t argument = 0;  // its number among the arguments
  std::string value;
  const char* type = "";  // "int32", of a number; "bool"; "pointer"; else empty
  friend bool operator==(const ArgPart&, const ArgPart&) = default;
};

// What decides which trace serves a call.
struct Signature {
  std::vector<ArgSpec> tensors;
  std::string constants;       // types, lengths, C++ values and variables
  std::vector<ArgPart> parts;  // the same in words, for people
};

// A small number for the name of a device; 0 for the host's CPU and for symbols without one.
inline int DeviceNumber(const char* name) {
  struct Known {
    std::mutex mutex;
    std::vector<std::string> names = {""};
  };
  static Known* const known = new Known;
  const std::string_view text = name == nullptr ? std::string_view() : name;
  if (text.empty() || text.ends_with("/device:CPU:0")) return 0;
  const std::lock_guard lock(known->mutex);
  for (size_t i = 1; i < known->names.size(); ++i) {
    if (known->names[i] == text) return static_cast<int>(i);
  }
  known->names.emplace_back(text);
  return static_cast<int>(known->names.size()) - 1;
}

// The arguments of a call: what is compared first, as bytes, and the tensors; a Tensor() stands for
// a TensorSpec.
struct CallArgs {
  std::string key;        // all of the signature
  std::string constants;  // of Signature
  std::vector<Tensor> tensors;
  std::vector<ArgSpec> specs;  // of all tensors if a TensorSpec is among them; else empty
  bool has_specs = false;
};

// Appends the bytes of a number.
inline void PutNumber(std::string& key, int64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class ArgReader {
 public:
  ArgReader(CallArgs& call, Where where) : call_(call), where_(where) {}
  Where where() const { return where_; }

  void OnTensor(const Tensor& tensor) {
    TensorRep& rep = tensor.rep(where_);
    std::string& key = call_.key;
    call_.constants += 'T';
    key += static_cast<char>(rep.dtype);
    if (rep.handle != nullptr) {
      TF_Status* const status = ThreadStatus();
      const int rank = TFE_TensorHandleNumDims(rep.handle, status);
      Check(status);
      key += static_cast<char>(rank);
      for (int i = 0; i < rank; ++i) PutNumber(key, TFE_TensorHandleDim(rep.handle, i, status));
      PutNumber(key, DeviceNumber(TFE_TensorHandleDeviceName(rep.handle, status)));
      Check(status);
    } else {
      PutShape(tensor.shape());
      PutNumber(key, DeviceNumber(TF_OperationDevice(rep.output.oper)));
    }
    if (rep.dtype == DType::kResource || rep.dtype == DType::kVariant)
      PutHandleData(rep.handle_data.get());
    if (call_.has_specs) AddSpec(tensor);
    call_.tensors.push_back(tensor);
  }
  void OnSpec(const TensorSpec& spec) {
    if (!call_.has_specs) {
      call_.has_specs = true;
      for (const Tensor& tensor : call_.tensors) AddSpec(tensor);
    }
    call_.constants += 'T';
    call_.key += static_cast<char>(spec.dtype());
    PutShape(spec.shape());
    call_.key += '\0';
    PutNumber(call_.key, static_cast<int64_t>(spec.name().size()));
    call_.key += spec.name();
    call_.specs.push_back({spec.dtype(), spec.shape(), 0, spec.name(), nullptr});
    call_.tensors.emplace_back();
  }
  void OnVariable(const Variable& variable) {
    call_.constants += 'V';
    // Not its address: another variable may have that when this one is gone.
    PutNumber(call_.constants, static_cast<int64_t>(variable.handle().get()->variable->number));
  }
  void OnMark(size_t number) { PutNumber(call_.constants, static_cast<int64_t>(number)); }
  void OnConstant(std::string_view bytes) {
    call_.constants += 'C';
    call_.constants += bytes;
  }

 private:
  void PutShape(const Shape& shape) {
    call_.key += static_cast<char>(shape.rank());
    for (const int64_t dim : shape.dims()) PutNumber(call_.key, dim);
  }
  void PutHandleData(const std::string* data) {
    PutNumber(call_.key, data == nullptr ? -1 : static_cast<int64_t>(data->size()));
    if (data != nullptr) call_.key += *data;
  }
  void AddSpec(const Tensor& tensor);

  CallArgs& call_;
  const Where where_;
};

// The spec of a tensor.
inline ArgSpec SpecOf(const Tensor& tensor) {
  ArgSpec spec;
  spec.dtype = tensor.dtype();
  spec.shape = tensor.shape();
  spec.handle_data = tensor.get()->handle_data;
  TF_Status* const status = ThreadStatus();
  spec.device =
      DeviceNumber(tensor.IsSymbolic() ? TF_OperationDevice(tensor.output().oper)
                                       : TFE_TensorHandleDeviceName(tensor.handle(), status));
  return spec;
}
inline void ArgReader::AddSpec(const Tensor& tensor) { call_.specs.push_back(SpecOf(tensor)); }

// Says in words what the arguments are.
class ArgDescriber {
 public:
  std::vector<ArgPart> parts;

  template <typename... Args>
  explicit ArgDescriber(const Args&... args) {
    [[maybe_unused]] const auto add = [this](const auto& argument) {
      Walk(argument, *this);
      ++argument_;
    };
    (add(args), ...);
  }

  void OnTensor(const Tensor&) { Add("a tensor"); }
  void OnSpec(const TensorSpec&) { Add("a tensor"); }
  void OnVariable(const Variable& variable) { Add("the variable \"" + variable.name() + "\""); }
  void OnMark(size_t number) { Add("length " + std::to_string(number)); }
  // The length of a text stands before it, and is no part of its own.
  void OnConstant(std::string_view text) {
    constexpr size_t kMost = 40;
    parts.back().value = '"' + std::string(text.substr(0, kMost)) +
                         (text.size() > kMost ? "\"... of " + std::to_string(text.size()) + " bytes"
                                              : std::string("\""));
  }
  template <typename T>
  void OnPlain(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      OnPlain(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_pointer_v<T>) {
      char text[32];
      std::snprintf(text, sizeof text, "%p", reinterpret_cast<const void*>(value));
      Add(text, "pointer");
    } else if constexpr (std::is_same_v<T, bool>) {
      Add(value ? "true" : "false", "bool");
    } else if constexpr (std::is_floating_point_v<T>) {
      char text[64];
      char* const end = std::to_chars(text, text + sizeof text, value).ptr;
      Add(std::string(text, end), Name(DTypeOf<T>()));
    } else {
      Add(std::to_string(value), Name(DTypeOf<T>()));
    }
  }

 private:
  void Add(std::string value, const char* type = "") {
    parts.push_back({argument_, std::move(value), type});
  }
  size_t argument_ = 0;
};

template <typename... Args>
CallArgs ReadArgs(const void* type, Where where, const Args&... args) {
  CallArgs call;
  PutNumber(call.constants, reinterpret_cast<intptr_t>(type));
  ArgReader reader(call, where);
  (Walk(args, reader), ...);
  call.key += call.constants;
  return call;
}

// An argument as the callable gets it in a trace; a tensor that is still a value.
template <typename T>
TracedArg<T> AsTraced(const T& value) {
  if constexpr (std::is_same_v<T, TensorSpec>) {
    return Tensor();
  } else if constexpr (std::is_same_v<T, std::vector<TensorSpec>>) {
    return std::vector<Tensor>(value.size());
  } else {
    return value;
  }
}
template <size_t n>
std::string AsTraced(const char (&text)[n]) {
  return text;
}

// Puts a placeholder in the place of each tensor of the arguments. UNIMPLEMENTED for a TensorSpec
// that AsTraced has left.
class MakeInputs : public Visitor {
 public:
  MakeInputs(TraceGraph& graph, const Signature& signature, Where where)
      : graph_(graph), signature_(signature), where_(where) {}
  void OnTensor(Tensor& tensor) {
    const size_t i = next_++;
    const ArgSpec& spec = signature_.tensors[i];
    const std::string name = spec.name.empty() ? "arg_" + std::to_string(i) : spec.name;
    tensor = graph_.AddInput(spec.dtype, spec.shape, name, where_);
    if (spec.handle_data != nullptr) {
      TF_SetHandleShapeAndType(graph_.graph(), tensor.output(), spec.handle_data->data(),
                               spec.handle_data->size(), ThreadStatus());
    }
  }
  void OnSpec(const TensorSpec&) {
    Throw(TF_UNIMPLEMENTED,
          "A TensorSpec stands for an argument, or is an element of a std::vector of TensorSpecs: "
          "in another structure it is not supported",
          where_);
  }

 private:
  TraceGraph& graph_;
  const Signature& signature_;
  const Where where_;
  size_t next_ = 0;
};

// Gathers the tensors of a callable's result as outputs of its graph.
class CollectOutputs : public Visitor {
 public:
  CollectOutputs(TraceGraph& graph, Where where) : graph_(graph), where_(where) {}
  std::vector<TF_Output> outputs;
  // An empty Tensor, such as a gradient that there is not, stays one.
  void OnTensor(Tensor& tensor) {
    if (tensor.defined()) outputs.push_back(graph_.Resolve(tensor, where_));
  }

 private:
  TraceGraph& graph_;
  const Where where_;
};

// Puts what a call gave in the place of the symbols of a result.
class ReplaceTensors : public Visitor {
 public:
  explicit ReplaceTensors(const std::vector<Tensor>& tensors) : tensors_(tensors) {}
  void OnTensor(Tensor& tensor) {
    if (tensor.defined()) tensor = tensors_[next_++];
  }

 private:
  const std::vector<Tensor>& tensors_;
  size_t next_ = 0;
};

}  // namespace tenon::inline v0::internal
