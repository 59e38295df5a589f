// Variables: tensors that can be assigned.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/internal/shared.h"
#include "tenon/internal/wire.h"
#include "tenon/tensor.h"

namespace tenon::inline v0 {

// What a Variable is made with.
struct VariableOptions {
  std::string name = "Variable";
  bool trainable = true;    // tapes watch it by themselves, if its type can have a gradient
  std::string device = {};  // empty: that of the innermost Device, else the placer's choice
};

namespace internal {

// The variables that the callable of a Function makes while it is traced. The callable makes them
// in the first trace and keeps them. A variable that it made anew in each trace, or that only the
// graph had, would keep its state from call to call unseen.
class NewVariables {
 public:
  // `function` is the Function's name, `place` where it was made; both for messages. `traced` says
  // that it has a trace already.
  NewVariables(std::string function, bool traced, std::string place)
      : function_(std::move(function)), place_(std::move(place)), traced_(traced) {}

  // Before a variable is made. FAILED_PRECONDITION where the function was traced before.
  void BeforeMaking(const std::string& name, Where where) const {
    if (traced_) Refuse(name, "in a trace that is not the first", where);
  }
  void Add(std::weak_ptr<const void> variable, std::string name, Where where) {
    made_.push_back({std::move(variable), std::move(name), where});
  }
  // After the trace. FAILED_PRECONDITION if the program has let go of one of them.
  void Check() const {
    for (const Made& made : made_) {
      if (made.variable.expired())
        Refuse(made.name, "and lets go of it, so that calls would share it unseen", made.where);
    }
  }

 private:
  struct Made {
    std::weak_ptr<const void> variable;
    std::string name;
    Where where;
  };
  [[noreturn]] void Refuse(const std::string& name, const char* how, Where where) const {
    Throw(TF_FAILED_PRECONDITION,
          "The function \"" + function_ + "\"" + (place_.empty() ? "" : " (" + place_ + ")") +
              " makes the variable \"" + name + "\" " + how +
              ". Variables of a function must be created once: make them outside, or in the first"
              " trace and keep them, as in: if (!v) v.emplace(0.f)",
          where);
  }

  const std::string function_, place_;
  const bool traced_;
  std::vector<Made> made_;
};

// The new variables of the function that this thread traces; null outside.
inline thread_local constinit NewVariables* new_variables = nullptr;

// Makes `variables` the new_variables of this thread while it lives.
class NoteVariables {
 public:
  explicit NoteVariables(NewVariables* variables)
      : before_(std::exchange(new_variables, variables)) {}
  NoteVariables(const NoteVariables&) = delete;
  NoteVariables& operator=(const NoteVariables&) = delete;
  ~NoteVariables() { new_variables = before_; }

 private:
  NewVariables* const before_;
};

}  // namespace internal

// A handle: copies are the same variable, which lives as long as the last of them, of the tensors
// of handle() and of the traces that use it. Reads and assignments run at once, or are nodes of the
// function that this thread traces; there they keep their order. Several threads may use one
// variable: an assignment, also AssignAdd and AssignSub, is done as a whole.
class Variable {
 public:
  // Made at once, also in a trace. Begins with the value of `initial` and keeps its type and shape.
  // INVALID_ARGUMENT if `initial` is a Tensor() without a value (one of 0 elements has a value), or
  // the name is one that no node may have.
  // FAILED_PRECONDITION if `initial` is a symbol. As with tf.function, a Function makes variables
  // once: FAILED_PRECONDITION where its callable makes one in another trace than the first, or
  // keeps no copy of it beyond the trace. Errors name `where`. A variable made by emplace or
  // make_unique knows no place, unless it is given one.
  explicit Variable(const Tensor& initial, VariableOptions options = {},
                    Where where = Where::current());

  const std::string& name(Where where = Where::current()) const { return rep_.At(where).name; }
  DType dtype(Where where = Where::current()) const { return rep_.At(where).dtype; }
  const Shape& shape(Where where = Where::current()) const { return rep_.At(where).shape; }
  bool trainable(Where where = Where::current()) const { return rep_.At(where).trainable; }
  // The tensor of type kResource that stands for the variable: for ops that take one.
  const Tensor& handle(Where where = Where::current()) const { return rep_.At(where).handle; }

  // The value that the variable has now.
  Tensor Read(Where where = Where::current()) const {
    return Op("ReadVariableOp", where)
        .Input(handle(where))
        .Attr("dtype", rep_->dtype)
        .Name(rep_->name + "/Read")
        .RunOne();
  }
  // As Read. As a source of Gradients and of a GradientTape the tensor stands for the variable,
  // unless a gradient comes to the tensor itself.
  operator Tensor() const {  // NOLINT
    Tensor value = Read(rep_->where);
    internal::TensorRep* const handle = rep_->handle.get();
    handle->refs.fetch_add(1, std::memory_order_relaxed);
    value.get()->read_of = handle;
    return value;
  }
  // A part of the value, as Tensor has it.
  Tensor operator[](const Index& index) const { return Read(index.where())[index]; }
  Tensor operator[](std::initializer_list<Index> indices) const { return Read()[indices]; }
  Tensor operator()(std::initializer_list<Index> indices, Where where = Where::current()) const {
    return Read(where)(indices, where);
  }

  // A number takes the type of the variable. INVALID_ARGUMENT for a tensor of another type or
  // shape: the variable does not change then. The shape of a symbol that is not known in full is
  // compared when the function runs. Each returns this variable.
  const Variable& Assign(const Operand& value, Where where = Where::current()) const {
    return Update("AssignVariableOp", value.AsTensor(dtype(where)), where);
  }
  const Variable& AssignAdd(const Operand& value, Where where = Where::current()) const {
    return Update("AssignAddVariableOp", value.AsTensor(dtype(where)), where);
  }
  const Variable& AssignSub(const Operand& value, Where where = Where::current()) const {
    return Update("AssignSubVariableOp", value.AsTensor(dtype(where)), where);
  }
  friend bool operator==(const Variable& a, const Variable& b) { return a.rep_ == b.rep_; }

 private:
  struct Rep {
    Tensor handle;
    std::string name, shared_name;
    DType dtype = DType::kInvalid;
    Shape shape;
    bool trainable = true;
    Where where;
  };
  const Variable& Update(const char* type, const Tensor& value, Where where) const {
    const Shape shape = value.shape(where);
    const bool fits = rep_->shape.Admits(shape);
    if (value.dtype() != rep_->dtype || (!fits && shape.IsFullyDefined())) {
      internal::Throw(Error(TF_INVALID_ARGUMENT,
                            "The variable \"" + rep_->name + "\" holds " + Name(rep_->dtype) +
                                " of shape " + rep_->shape.ToString() + ", the value is " +
                                Name(value.dtype()) + " of shape " + shape.ToString(),
                            type, {}, where));
    }
    Op op(type, where);
    op.Input(rep_->handle).Input(value).Attr("dtype", rep_->dtype);
    // The ops that add compare shapes anyway.
    if (!fits && op.call().type == "AssignVariableOp") op.Attr("validate_shape", true);
    op.RunNone();
    return *this;
  }

  internal::Shared<Rep> rep_;
};

namespace internal {

// INVALID_ARGUMENT for a null pointer among the variables that a caller gives.
inline void CheckPointers(const std::vector<Variable*>& variables, Where where) {
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i] == nullptr)
      Throw(TF_INVALID_ARGUMENT, "Variable " + std::to_string(i) + " is null", OfProgram(where));
  }
}

// While it lives, this thread is outside of all traces, tapes, scopes of names and control
// dependencies. The scope of the device stays.
class OutsideTraces {
 public:
  OutsideTraces() : before_(scopes) {
    scopes.trace = nullptr;
    scopes.name = nullptr;
    scopes.control = nullptr;
    scopes.tape = nullptr;
    scopes.watch = nullptr;
  }
  OutsideTraces(const OutsideTraces&) = delete;
  OutsideTraces& operator=(const OutsideTraces&) = delete;
  ~OutsideTraces() { scopes = before_; }

 private:
  const ThreadScopes before_;
};

}  // namespace internal

inline Variable::Variable(const Tensor& initial, VariableOptions options, Where place)
    : rep_("Variable", std::make_shared<Rep>()) {
  const Where where = internal::OfProgram(place);
  internal::CheckName(options.name, "a Variable", where);
  initial.rep(where);
  if (initial.IsSymbolic()) {
    initial.ThrowSymbolic(
        "a variable needs a value to begin with; make the variable outside the"
        " function, or from a value",
        where);
  }
  internal::NewVariables* const noted =
      internal::scopes.trace == nullptr ? nullptr : internal::new_variables;
  if (noted != nullptr) {
    noted->BeforeMaking(options.name, where);
    noted->Add(rep_.pointer(), options.name, where);
  }
  const internal::OutsideTraces outside;
  const Device device(options.device.empty() && internal::scopes.device != nullptr
                          ? *internal::scopes.device
                          : options.device);
  rep_->name = options.name;
  rep_->shared_name = options.name + "_" + std::to_string(internal::NextNumber());
  rep_->dtype = initial.dtype();
  rep_->shape = initial.shape();
  rep_->trainable = options.trainable && IsDifferentiable(initial.dtype());
  rep_->where = where;
  rep_->handle = Op("VarHandleOp", where)
                     .Attr("dtype", rep_->dtype)
                     .Attr("shape", rep_->shape)
                     .Attr("shared_name", rep_->shared_name)
                     .RunOne();
  // HandleData { is_set, shape_and_type { shape, dtype } }
  std::string content;
  internal::wire::Message(content, 1, internal::wire::ShapeProto(rep_->shape));
  internal::wire::Int(content, 2, static_cast<int>(rep_->dtype));
  std::string data;
  internal::wire::Int(data, 1, 1);
  internal::wire::Message(data, 2, content);
  internal::TensorRep& handle = *rep_->handle.get();
  handle.handle_data = std::make_shared<const std::string>(std::move(data));
  handle.is_trainable = rep_->trainable;
  handle.owns_resource = true;
  static std::atomic<uint64_t> variables{0};
  handle.variable = std::make_shared<const internal::VariableInfo>(
      internal::VariableInfo{variables.fetch_add(1, std::memory_order_relaxed), rep_->name,
                             rep_->shared_name, rep_->dtype, rep_->shape});
  Op("AssignVariableOp", where)
      .Input(rep_->handle)
      .Input(initial)
      .Attr("dtype", rep_->dtype)
      .RunNone();
}

inline Operand::Operand(const Variable& variable, Where where)
    : tensor_(variable.Read(where)), where_(where) {}

}  // namespace tenon::inline v0
