// Any op by its name: runs at once, or becomes a node of the function that this thread traces.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/internal/eager_run.h"
#include "tenon/op_call.h"
#include "tenon/scopes.h"
#include "tenon/tensor_class.h"

namespace tenon::inline v0 {

// Builds one call of an op: Op("MatMul").Input(a).Input(b).Attr("transpose_b", true).RunOne().
// Inputs come in the order of the op's arguments. Attributes that the inputs decide (types, lengths
// of lists) need not be set, nor those that have a default. An attribute is set once at most. One
// that the op does not have is INVALID_ARGUMENT, unless its name begins with '_'. Only the Run
// functions and AddToTrace throw errors, which name the op and `where`. Call one of these
// functions, once: it may take the call out of the object. What each call uses stands out of line:
// programs call many ops, and their code would be compiled into each.
class Op {
 public:
  [[gnu::noinline]] explicit Op(std::string type, Where where = Where::current()) {
    call_.type = std::move(type);
    call_.where = where;
  }
  Op(const Op&) = default;
  Op(Op&&) = default;
  Op& operator=(const Op&) = default;
  Op& operator=(Op&&) = default;
  [[gnu::noinline]] ~Op() {}  // NOLINT: out of line

  [[gnu::noinline]] Op& Input(const Tensor& tensor) {
    if (call_.tensors.empty()) call_.tensors.reserve(4);
    call_.tensors.push_back(tensor);
    return *this;
  }
  // An argument that is a list.
  [[gnu::noinline]] Op& Input(const std::vector<Tensor>& tensors) {
    call_.lists.push_back({call_.tensors.size(), tensors.size()});
    call_.tensors.insert(call_.tensors.end(), tensors.begin(), tensors.end());
    return *this;
  }

  Op& Attr(const char* name, bool value) { return SetNumber(name, Kind::kBool, value ? 1 : 0); }
  Op& Attr(const char* name, int value) { return SetNumber(name, Kind::kInt, value); }
  Op& Attr(const char* name, int64_t value) { return SetNumber(name, Kind::kInt, value); }
  Op& Attr(const char* name, DType value) {
    return SetNumber(name, Kind::kType, static_cast<int>(value));
  }
  Op& Attr(const char* name, float value) {
    Add(name, Kind::kFloat).real = value;
    return *this;
  }
  Op& Attr(const char* name, double value) { return Attr(name, static_cast<float>(value)); }
  Op& Attr(const char* name, std::string value) {
    Add(name, Kind::kString).strings.push_back(std::move(value));
    return *this;
  }
  Op& Attr(const char* name, const char* value) { return Attr(name, std::string(value)); }
  Op& Attr(const char* name, Shape value) {
    Add(name, Kind::kShape).shapes.push_back(std::move(value));
    return *this;
  }
  Op& Attr(const char* name, Tensor value) {
    Add(name, Kind::kTensor).tensor = std::move(value);
    return *this;
  }
  Op& Attr(const char* name, FunctionName value) {
    Add(name, Kind::kFunction).functions.push_back(std::move(value));
    return *this;
  }
  Op& Attr(const char* name, const std::vector<bool>& value) {
    return SetNumbers(name, Kind::kBools, value);
  }
  Op& Attr(const char* name, const std::vector<int>& value) {
    return SetNumbers(name, Kind::kInts, value);
  }
  Op& Attr(const char* name, std::vector<int64_t> value) {
    Add(name, Kind::kInts).numbers = std::move(value);
    return *this;
  }
  Op& Attr(const char* name, const std::vector<DType>& value) {
    return SetNumbers(name, Kind::kTypes, value);
  }
  Op& Attr(const char* name, std::vector<float> value) {
    Add(name, Kind::kFloats).reals = std::move(value);
    return *this;
  }
  Op& Attr(const char* name, std::vector<std::string> value) {
    Add(name, Kind::kStrings).strings = std::move(value);
    return *this;
  }
  Op& Attr(const char* name, std::vector<Shape> value) {
    Add(name, Kind::kShapes).shapes = std::move(value);
    return *this;
  }
  Op& Attr(const char* name, std::vector<FunctionName> value) {
    Add(name, Kind::kFunctions).functions = std::move(value);
    return *this;
  }
  // The name of the node in a trace; a name that is taken gets a number.
  Op& Name(std::string name) {
    options_.name = std::move(name);
    return *this;
  }

  // Runs an op and gives all of its outputs.
  std::vector<Tensor> Run();
  // Runs an op of one output. INVALID_ARGUMENT if the op has another number of outputs; it may have
  // run by then.
  Tensor RunOne() {
    if (internal::scopes.trace == nullptr) {
      internal::AddEagerSeeds(call_);
      TFE_TensorHandle* output = nullptr;
      if (internal::RunEagerly(call_, &output, 1) == 1) [[likely]] {
        Tensor result = Tensor::FromHandle(output, call_.where);
        if (internal::IsRecording())
          internal::record_on_tapes.load(std::memory_order_acquire)(std::move(call_), {&result, 1});
        return result;
      }
    } else {
      std::vector<Tensor> outputs = Run();
      if (outputs.size() == 1) return std::move(outputs[0]);
    }
    internal::Throw(Error(TF_INVALID_ARGUMENT, "The op does not have exactly one output",
                          call_.type, {}, call_.where));
  }
  // Runs an op of no outputs, or of outputs that nobody wants.
  void RunNone() { Run(); }
  // Adds the node to the function that this thread traces, which owns it. FAILED_PRECONDITION
  // outside a trace.
  TF_Operation* AddToTrace();

  // --- Of this library's own headers.
  internal::OpCall& call() { return call_; }
  internal::NodeOptions& options() { return options_; }

 private:
  using Kind = internal::NamedAttr::Kind;
  [[gnu::noinline]] internal::NamedAttr& Add(const char* name, Kind kind) {
    internal::NamedAttr& attr = call_.attrs.emplace_back();
    attr.name = name;
    attr.kind = kind;
    return attr;
  }
  Op& SetNumber(const char* name, Kind kind, int64_t value) {
    Add(name, kind).number = value;
    return *this;
  }
  template <typename List>
  Op& SetNumbers(const char* name, Kind kind, const List& values) {
    std::vector<int64_t>& numbers = Add(name, kind).numbers;
    for (const auto value : values) numbers.push_back(static_cast<int64_t>(value));
    return *this;
  }

  internal::OpCall call_;
  internal::NodeOptions options_;
};

inline TF_Operation* Op::AddToTrace() {
  if (internal::scopes.trace == nullptr) {
    internal::Throw(Error(TF_FAILED_PRECONDITION, "Only a function that is traced has nodes",
                          call_.type, {}, call_.where));
  }
  return internal::TraceFunctionsInUse().add(call_, options_);
}

inline std::vector<Tensor> Op::Run() {
  if (internal::scopes.trace != nullptr)
    return internal::TraceFunctionsInUse().run(call_, options_);
  internal::AddEagerSeeds(call_);
  std::vector<Tensor> outputs = internal::RunEagerly(call_, internal::MaxOutputs(call_));
  if (internal::IsRecording())
    internal::record_on_tapes.load(std::memory_order_acquire)(std::move(call_), outputs);
  return outputs;
}

inline NameScope::NameScope(const std::string& name, Where where) : outer_(internal::scopes.name) {
  internal::TraceGraph* const graph = internal::scopes.trace;
  const bool is_inner = outer_ != nullptr && !outer_->empty();
  if (graph != nullptr && !name.empty()) internal::CheckName(name, "a scope", where, is_inner);
  if (name.empty() || name.ends_with('/')) {
    name_ = name;
  } else {
    name_ = (graph != nullptr ? internal::TraceFunctionsInUse().unique_name(*graph, name)
                              : (outer_ == nullptr ? name : *outer_ + name)) +
            "/";
  }
  internal::scopes.name = &name_;
}

}  // namespace tenon::inline v0
