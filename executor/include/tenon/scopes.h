// RAII scopes of a thread: the device of ops, the front part of their names, and what they wait
// for. A scope is destroyed on the thread that made it, and before the scopes that it stands in.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/tensor_class.h"

namespace tenon::inline v0 {

class GradientTape;

namespace internal {

// What ops of this thread are made under. Pointers and counts only, so that reading it costs no
// guard. Whoever changes a member puts its former value back.
struct ThreadScopes {
  TraceGraph* trace = nullptr;                  // of the function that is being traced
  const std::string* device = nullptr;          // of the innermost Device
  const std::string* name = nullptr;            // "encoder/layer/", of the innermost NameScope
  const class ControlScope* control = nullptr;  // of the innermost ControlDependencies
  class TapeRep* tape = nullptr;                // the innermost tape that records; a chain
  // Of the innermost CustomGradient whose forward function runs.
  const struct VariableWatch* watch = nullptr;
};
inline thread_local constinit ThreadScopes scopes;

// "/device:APU:0" for "/APU:0" and "APU:0", the short forms; any other name as it is.
inline std::string DeviceName(const std::string& name) {
  const size_t begin = name.starts_with('/') ? 1 : 0;
  if (name.find('/', begin) != std::string::npos || name.find(':') == std::string::npos ||
      name.find(':') != name.rfind(':') || name.find('=') != std::string::npos)
    return name;
  for (const char* const part : {"job:", "task:", "replica:", "device:"}) {
    if (name.compare(begin, std::string_view(part).size(), part) == 0) return name;
  }
  return "/device:" + name.substr(begin);
}

// Throws INVALID_ARGUMENT unless nodes of graphs may have the name, or begin with it. `what` says
// whose name it is. A scope in another one may begin with '_' and the like.
inline void CheckName(std::string_view name, const char* what, Where where, bool is_inner = false) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
  };
  bool is_right = !name.empty() && (is_inner || is_plain(name[0]));
  bool begins = false;  // behind a '>'
  for (const char c : name) {
    is_right =
        is_right &&
        (is_plain(c) || (!begins && std::string_view("_-/>").find(c) != std::string_view::npos));
    begins = c == '>';
  }
  is_right = is_right && !begins;
  if (is_right) [[likely]]
    return;
  Throw(TF_INVALID_ARGUMENT,
        '"' + std::string(name) + "\" is no name of " + what +
            ": it begins with a letter, a digit or '.', and goes on with these and '_', '-' or '/';"
            " behind a '>' it begins anew",
        OfProgram(where));
}

class ControlScope {
 public:
  std::vector<Tensor> tensors;
  const ControlScope* outer = nullptr;
};

}  // namespace internal

// While it lives, ops that this thread runs or traces get this device: "/APU:0", "/device:CPU:0" or
// a full name. An empty name leaves the choice to the placer again. A name that is wrong is an
// error of the ops, not of the constructor.
class Device {
 public:
  explicit Device(const std::string& name)
      : name_(internal::DeviceName(name)), outer_(internal::scopes.device) {
    internal::scopes.device = &name_;
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { internal::scopes.device = outer_; }

 private:
  const std::string name_;
  const std::string* const outer_;
};

// While it lives, the names of nodes that this thread traces begin with the name: "layer/MatMul".
// Scopes in scopes give "encoder/layer/MatMul". A name that the graph has had becomes "layer_1". An
// empty name leaves all scopes. A name that ends in '/' is taken as it is, without the names of the
// scopes around it. INVALID_ARGUMENT in a trace for a name that no node may have. Outside of a
// trace the name is not checked.
class NameScope {
 public:
  explicit NameScope(const std::string& name, Where where = Where::current());
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
  ~NameScope() { internal::scopes.name = outer_; }

 private:
  std::string name_;
  const std::string* const outer_;
};

// While it lives, ops that this thread traces run after these tensors are computed. Tensors that
// are no symbols of the trace are passed over. For a Tensor() the ops throw INVALID_ARGUMENT.
class ControlDependencies {
 public:
  explicit ControlDependencies(std::vector<Tensor> tensors) {
    scope_.tensors = std::move(tensors);
    scope_.outer = internal::scopes.control;
    internal::scopes.control = &scope_;
  }
  ControlDependencies(const ControlDependencies&) = delete;
  ControlDependencies& operator=(const ControlDependencies&) = delete;
  ~ControlDependencies() { internal::scopes.control = scope_.outer; }

 private:
  internal::ControlScope scope_;
};

}  // namespace tenon::inline v0
