// Optimizers: how variables follow their gradients. Each step of a variable is one op.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/internal/shared.h"
#include "tenon/variable.h"

namespace tenon::inline v0 {
namespace internal {

// What nothing makes: a list of it is {}.
struct Nothing {
  Nothing(const Nothing&, const Nothing&) = delete;
};

}  // namespace internal
namespace optim {

// What optimizers share: state for each variable, which is made at the first step of the variable.
// Copies of an optimizer share their state. The state, and the variables that have some, live at
// least as long as the last of these copies. Apply may run eagerly or in a trace. One thread at a
// time calls Apply of an optimizer and its copies.
class Optimizer {
 public:
  // Moves each variable by its gradient, in the order of the lists; an empty gradient leaves its
  // variable as it is. A variable that stands twice in the list is moved twice. INVALID_ARGUMENT
  // for lists of different lengths, and if there are gradients but all are empty: nothing is moved
  // then. Else the error of an op, as for a gradient of another type or shape than its variable:
  // the variables before that one are moved already. INVALID_ARGUMENT, and nothing is moved, for a
  // null pointer in `variables`.
  void Apply(const std::vector<Tensor>& gradients, const std::vector<Variable*>& variables,
             Where where = Where::current()) {
    if (gradients.size() != variables.size()) {
      internal::Throw(TF_INVALID_ARGUMENT,
                      "Apply: " + std::to_string(gradients.size()) + " gradients for " +
                          std::to_string(variables.size()) + " variables",
                      where);
    }
    internal::CheckPointers(variables, where);
    if (!gradients.empty() && std::none_of(gradients.begin(), gradients.end(),
                                           [](const Tensor& g) { return g.defined(); })) {
      internal::Throw(TF_INVALID_ARGUMENT,
                      "Apply: no variable has a gradient: nothing leads from \"" +
                          variables[0]->name() + "\" and the others to what was differentiated",
                      where);
    }
    const StepScope scope{*this};
    BeginStep(variables, where);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (gradients[i].defined()) Step(*variables[i], gradients[i], where);
    }
    EndStep(where);
  }
  // The same for variables themselves: their copies are the same variables.
  void Apply(const std::vector<Tensor>& gradients, std::initializer_list<Variable> variables,
             Where where = Where::current()) {
    Apply(gradients, std::vector<Variable>(variables), where);
  }
  // A template, since a list of two pointers also makes a vector of what lies between them.
  template <std::same_as<Variable> V>
  void Apply(const std::vector<Tensor>& gradients, const std::vector<V>& variables,
             Where where = Where::current()) {
    std::vector<Variable> copies = variables;
    std::vector<Variable*> pointers;
    for (Variable& variable : copies) pointers.push_back(&variable);
    Apply(gradients, pointers, where);
  }

 protected:
  virtual ~Optimizer() = default;
  virtual void BeginStep(const std::vector<Variable*>&, Where) {}
  virtual void Step(const Variable& variable, const Tensor& gradient, Where where) = 0;
  virtual void EndStep(Where) {}
  // Lets go of tensors that BeginStep has kept, also after an exception.
  virtual void Forget() {}

  // The optimizer's variable `name` for `variable`, of its type and shape. It is made, with zeros,
  // when it is asked for first. The optimizer keeps it.
  const Variable& Slot(const Variable& variable, const char* name, Where where) {
    Slots& slots = *slots_;
    const std::pair<const internal::TensorRep*, std::string> key(variable.handle().get(), name);
    for (const Entry& entry : slots) {
      if (entry.key == key) return *entry.slot;
    }
    internal::NewVariables* const noted = NotedVariables();
    const internal::OutsideTraces outside;
    TF_Tensor* const zeros = internal::AllocateTensor(
        variable.dtype(), variable.shape().dims().data(), variable.shape().rank());
    std::memset(TF_TensorData(zeros), 0, TF_TensorByteSize(zeros));
    slots.push_back(
        {key, variable,
         std::make_unique<Variable>(
             Tensor::FromHost(zeros),
             VariableOptions{.name = variable.name() + "/" + name, .trainable = false}, where)});
    if (noted != nullptr) noted->Add(slots_, slots.back().slot->name(), where);
    return *slots.back().slot;
  }

  // The new variables of the function that is being traced; null outside. What an optimizer keeps
  // for a variable may also be made in a later trace.
  static internal::NewVariables* NotedVariables() {
    return internal::scopes.trace == nullptr ? nullptr : internal::new_variables;
  }
  // A scalar of the type of the variable.
  static Tensor Scalar(float value, const Variable& variable, Where where) {
    return Operand(value, where).OfType(variable.dtype());
  }

 private:
  struct StepScope {
    Optimizer& optimizer;
    ~StepScope() { optimizer.Forget(); }
  };
  struct Entry {
    std::pair<const internal::TensorRep*, std::string> key;
    Variable of;  // so that its address names no other variable
    std::unique_ptr<Variable> slot;
  };
  using Slots = std::vector<Entry>;

  std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
};

// What Sgd is made with.
struct SgdOptions {
  float learning_rate = 0.01f;
  float momentum = 0;
  bool nesterov = false;
};

// v -= learning_rate * g; with a momentum as Momentum.
class Sgd : public Optimizer {
 public:
  explicit Sgd(SgdOptions options = {}) : options_(options) {}
  explicit Sgd(std::initializer_list<internal::Nothing>) : Sgd() {}  // of {}

 protected:
  void Step(const Variable& variable, const Tensor& gradient, Where where) override {
    const Tensor rate = Scalar(options_.learning_rate, variable, where);
    if (options_.momentum == 0) {
      Op("ResourceApplyGradientDescent", where)
          .Input(variable.handle())
          .Input(rate)
          .Input(gradient)
          .RunNone();
      return;
    }
    // a = momentum * a - learning_rate * g; v += a, or with nesterov v += momentum * a -
    // learning_rate * g.
    Op("ResourceApplyKerasMomentum", where)
        .Input(variable.handle())
        .Input(Slot(variable, "momentum", where).handle())
        .Input(rate)
        .Input(gradient)
        .Input(Scalar(options_.momentum, variable, where))
        .Attr("use_nesterov", options_.nesterov)
        .RunNone();
  }

 private:
  const SgdOptions options_;
};

// What Momentum is made with.
struct MomentumOptions {
  float learning_rate = 0.01f;
  float momentum = 0.9f;
  bool nesterov = false;
};

// a = momentum * a + g; v -= learning_rate * a, or with nesterov v -= learning_rate * (g + momentum
// * a).
class Momentum : public Optimizer {
 public:
  explicit Momentum(MomentumOptions options = {}) : options_(options) {}
  explicit Momentum(std::initializer_list<internal::Nothing>) : Momentum() {}  // of {}

 protected:
  void Step(const Variable& variable, const Tensor& gradient, Where where) override {
    Op("ResourceApplyMomentum", where)
        .Input(variable.handle())
        .Input(Slot(variable, "momentum", where).handle())
        .Input(Scalar(options_.learning_rate, variable, where))
        .Input(gradient)
        .Input(Scalar(options_.momentum, variable, where))
        .Attr("use_nesterov", options_.nesterov)
        .RunNone();
  }

 private:
  const MomentumOptions options_;
};

// What Adam is made with.
struct AdamOptions {
  float learning_rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-7f;
};

// Adam of Kingma and Ba, with epsilon as TensorFlow has it ("epsilon hat"). All variables share the
// powers of beta1 and beta2, which each Apply without an error takes one step further.
class Adam : public Optimizer {
 public:
  explicit Adam(AdamOptions options = {}) : options_(options) {}
  explicit Adam(std::initializer_list<internal::Nothing>) : Adam() {}  // of {}

 protected:
  void BeginStep(const std::vector<Variable*>& variables, Where where) override {
    if (powers_->beta1 == nullptr && !variables.empty()) {
      const internal::OutsideTraces outside;
      const auto make = [&](const char* name, float value) {
        return std::make_unique<Variable>(Tensor(value),
                                          VariableOptions{.name = name, .trainable = false}, where);
      };
      powers_->beta1 = make("beta1_power", options_.beta1);
      powers_->beta2 = make("beta2_power", options_.beta2);
    }
    if (powers_->beta1 == nullptr) return;
    beta1_power_ = powers_->beta1->Read(where);
    beta2_power_ = powers_->beta2->Read(where);
  }
  void Step(const Variable& variable, const Tensor& gradient, Where where) override {
    const auto typed = [&](const Tensor& power) {
      return variable.dtype() == DType::kFloat
                 ? power
                 : Op("Cast", where).Input(power).Attr("DstT", variable.dtype()).RunOne();
    };
    Op("ResourceApplyAdam", where)
        .Input(variable.handle())
        .Input(Slot(variable, "m", where).handle())
        .Input(Slot(variable, "v", where).handle())
        .Input(typed(beta1_power_))
        .Input(typed(beta2_power_))
        .Input(Scalar(options_.learning_rate, variable, where))
        .Input(Scalar(options_.beta1, variable, where))
        .Input(Scalar(options_.beta2, variable, where))
        .Input(Scalar(options_.epsilon, variable, where))
        .Input(gradient)
        .RunNone();
  }
  void EndStep(Where where) override {
    if (powers_->beta1 == nullptr) return;
    powers_->beta1->Assign(beta1_power_ * options_.beta1, where);
    powers_->beta2->Assign(beta2_power_ * options_.beta2, where);
  }
  void Forget() override {
    beta1_power_ = {};
    beta2_power_ = {};
  }

 private:
  struct Powers {
    std::unique_ptr<Variable> beta1, beta2;
  };
  const AdamOptions options_;
  internal::Shared<Powers> powers_{"Adam", std::make_shared<Powers>()};
  Tensor beta1_power_, beta2_power_;  // of this step
};

}  // namespace optim
}  // namespace tenon::inline v0
