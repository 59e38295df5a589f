// Rewrites calls, branches and loops that give variables to their functions.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "executor/freeze/fold_variables.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {
namespace {

// The attributes by which an op names its functions and their types.
struct CallForm {
  CallKind kind;
  std::vector<const char*> functions;  // attributes that hold a function or a list of functions
  const char* arg_types;               // attributes that hold lists of types
  const char* result_types;
  size_t first_arg;     // inputs before this one stay with the op, as a predicate
  size_t own_args = 0;  // what the op itself gives the function before these inputs
};

const CallForm* FormOf(const std::string& op) {
  static const auto& forms = *new std::vector<CallForm>{
      {CallKind::kFunction, {"f"}, "Tin", "Tout", 0},
      {CallKind::kIf, {"then_branch", "else_branch"}, "Tin", "Tout", 1},
      {CallKind::kCase, {"branches"}, "Tin", "Tout", 1},
      // The body comes first: the results of the loop are those of the body.
      {CallKind::kWhile, {"body", "cond"}, "T", "T", 0},
      {CallKind::kFor, {"body"}, "T", "T", 3, 1},
      {CallKind::kGradient, {"f"}, "Tin", "Tout", 0},
      {CallKind::kRemote, {"f"}, "Tin", "Tout", 1},
  };
  const CallKind kind = OpRegistry::Global().Facts(op).calls;
  const auto it =
      std::find_if(forms.begin(), forms.end(), [&](const CallForm& f) { return kind == f.kind; });
  return it == forms.end() ? nullptr : &*it;
}

std::vector<pb::NameAttrList*> FunctionsOf(pb::AttrValue& value) {
  std::vector<pb::NameAttrList*> functions;
  if (value.has_func()) functions.push_back(value.mutable_func());
  if (value.has_list()) {
    for (pb::NameAttrList& f : *value.mutable_list()->mutable_func()) functions.push_back(&f);
  }
  return functions;
}

template <typename Handles>
bool Any(const Handles& handles) {
  return std::any_of(handles.begin(), handles.end(), [](const auto& h) { return h.has_value(); });
}

}  // namespace

std::string NodeText(const std::string& function, const pb::NodeDef& node) {
  return absl::StrCat("node '", node.name(), "' (", node.op(), ")",
                      function.empty() ? "" : absl::StrCat(" of function '", function, "'"));
}

absl::StatusOr<bool> VariableFolder::RewriteCall(Scope& scope, pb::NodeDef& node,
                                                 const Handles& inputs) {
  if (library_.contains(node.op())) {
    TENON_ASSIGN_OR_RETURN(const Instance callee, Instantiate(node.op(), inputs, scope.depth + 1));
    SetResults(scope, node, callee.results);
    node.set_op(callee.name);
    return true;
  }
  const CallForm* form = FormOf(node.op());
  if (form == nullptr) return false;
  const Handles args(inputs.begin() + std::min(form->first_arg, inputs.size()), inputs.end());
  Handles given(form->own_args);
  given.insert(given.end(), args.begin(), args.end());
  const bool is_branch = form->kind == CallKind::kIf || form->kind == CallKind::kCase;
  const bool is_loop = form->kind == CallKind::kWhile || form->kind == CallKind::kFor;
  Handles results;
  for (const char* attr : form->functions) {
    const auto value = node.mutable_attr()->find(attr);
    if (value == node.mutable_attr()->end()) continue;
    for (pb::NameAttrList* function : FunctionsOf(value->second)) {
      TENON_ASSIGN_OR_RETURN(const Instance callee,
                             Instantiate(function->name(), given, scope.depth + 1));
      function->set_name(callee.name);
      if (results.empty()) {
        results = callee.results;
        if (is_loop) TENON_RETURN_IF_ERROR(CheckSame(scope, node, args, results));
      } else if (is_branch) {
        TENON_RETURN_IF_ERROR(CheckSame(scope, node, callee.results, results));
      }
    }
  }
  if (!Any(args)) return true;
  if (form->kind == CallKind::kGradient) {
    return absl::UnimplementedError(absl::StrCat(NodeText(scope.function, node),
                                                 " takes a variable, and has no form on values"));
  }
  TENON_RETURN_IF_ERROR(RewriteTypes(scope, node, args, form->arg_types, "input_shapes"));
  TENON_RETURN_IF_ERROR(RewriteTypes(scope, node, results, form->result_types, "output_shapes"));
  for (const char* attr : {"_read_only_resource_inputs", "_output_shapes"})
    node.mutable_attr()->erase(attr);
  node.clear_experimental_type();
  SetResults(scope, node, results);
  return true;
}

// A result is a value in all branches and passes, or a handle in all: a variable that shares a
// result with a resource that stays has to stay, too.
absl::Status VariableFolder::CheckSame(const Scope& scope, const pb::NodeDef& node,
                                       absl::Span<const std::optional<Handle>> one,
                                       absl::Span<const std::optional<Handle>> other) {
  for (size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    if (one[i].has_value() == other[i].has_value()) continue;
    written_ = (one[i].has_value() ? one[i] : other[i])->variable;
    return absl::FailedPreconditionError(absl::StrCat(
        "variable '", written_, "' is result ", i, " of ", NodeText(scope.function, node),
        " in some runs and another resource in others; it cannot be folded "
        "(--keep-state keeps it)"));
  }
  return absl::OkStatus();
}

// Replaces the type of each handle by the type of its value, and its shape by an unknown one, as
// the call does not know the shape of the value.
absl::Status VariableFolder::RewriteTypes(const Scope& scope, pb::NodeDef& node,
                                          absl::Span<const std::optional<Handle>> handles,
                                          const std::string& types,
                                          const std::string& shapes) const {
  const auto shape_list = node.mutable_attr()->find(shapes);
  pb::AttrValue& type_list = (*node.mutable_attr())[types];
  for (size_t i = 0; i < handles.size(); ++i) {
    if (!handles[i].has_value()) continue;
    const int index = static_cast<int>(i);
    if (index >= type_list.list().type_size()) {
      return absl::UnimplementedError(
          absl::StrCat(NodeText(scope.function, node), " takes variable '", handles[i]->variable,
                       "', and its attribute '", types, "' does not say which types it takes"));
    }
    type_list.mutable_list()->set_type(index, handles[i]->dtype);
    if (shape_list == node.mutable_attr()->end()) continue;
    pb::AttrValue::ListValue& list = *shape_list->second.mutable_list();
    if (index >= list.shape_size()) continue;
    list.mutable_shape(index)->Clear();
    list.mutable_shape(index)->set_unknown_rank(true);
  }
  return absl::OkStatus();
}

absl::StatusOr<VariableFolder::Instance> VariableFolder::Instantiate(
    const std::string& name, absl::Span<const std::optional<Handle>> args, int depth) {
  const auto original = library_.find(name);
  if (original == library_.end())
    return absl::InvalidArgumentError(absl::StrCat("no function is named '", name, "'"));
  // Bounds the recursion through RewriteNodes. A function that calls itself never gets an instance
  // before its own body is done, so it ends here too.
  if (depth > kMaxDepth) {
    return absl::InvalidArgumentError(absl::StrCat("function '", name, "' is called by way of ",
                                                   kMaxDepth, " others, or by itself"));
  }
  // Calls with the same types share an instance, whichever variables they pass: the clone holds no
  // name of a variable.
  std::string key = name;
  for (const std::optional<Handle>& arg : args)
    absl::StrAppend(&key, " ", arg.has_value() ? absl::StrCat(arg->dtype) : "-");
  if (const auto known = instances_.find(key); known != instances_.end())
    return known->second.CalledWith(args);

  pb::FunctionDef function = original->second;
  pb::OpDef& signature = *function.mutable_signature();
  Scope scope;
  scope.function = name;
  scope.depth = depth;
  for (int i = 0; i < static_cast<int>(args.size()); ++i) {
    if (!args[i].has_value()) continue;
    if (i >= signature.input_arg_size() || signature.input_arg(i).type() != pb::DT_RESOURCE) {
      return absl::UnimplementedError(absl::StrCat("function '", name, "' takes variable '",
                                                   args[i]->variable,
                                                   "' by an argument that is no single resource"));
    }
    pb::OpDef::ArgDef& arg = *signature.mutable_input_arg(i);
    arg.set_type(args[i]->dtype);
    arg.clear_handle_data();
    arg.clear_experimental_full_type();
    function.mutable_arg_attr()->erase(i);
    function.mutable_resource_arg_unique_id()->erase(i);
    scope.handles[absl::StrCat(arg.name(), ":0")] = {args[i]->dtype, args[i]->variable, i};
  }
  TENON_RETURN_IF_ERROR(RewriteNodes(scope, *function.mutable_node_def()));
  Instance instance{name, {}};
  for (pb::OpDef::ArgDef& result : *signature.mutable_output_arg()) {
    std::string& source = (*function.mutable_ret())[result.name()];
    const Handle* handle = Find(scope, source);
    instance.results.push_back(handle == nullptr ? std::optional<Handle>() : *handle);
    if (const auto renamed = scope.renamed.find(source); renamed != scope.renamed.end())
      source = renamed->second;
    if (handle == nullptr) continue;
    result.set_type(handle->dtype);
    result.clear_handle_data();
    result.clear_experimental_full_type();
  }
  // Without variables among its arguments the original is already right.
  if (Any(args)) {
    instance.name = UniqueFunctionName(absl::StrCat(name, "_frozen"));
    signature.set_name(instance.name);
    function.mutable_attr()->erase("_input_shapes");
    library_[instance.name].Swap(&function);
  }
  return (instances_[key] = std::move(instance)).CalledWith(args);
}

VariableFolder::Instance VariableFolder::Instance::CalledWith(
    absl::Span<const std::optional<Handle>> args) const {
  Instance called = *this;
  for (std::optional<Handle>& result : called.results) {
    if (result.has_value()) result = args[result->argument];
  }
  return called;
}

std::string VariableFolder::UniqueFunctionName(const std::string& base) const {
  std::string name = base;
  for (int i = 1; library_.contains(name); ++i) name = absl::StrCat(base, "_", i);
  return name;
}

void VariableFolder::DropUncalledFunctions() {
  // Sorted, so that the library has one order for one graph.
  std::set<std::string> called;
  std::vector<std::string> open;
  const auto note = [&](const std::string& name) {
    if (library_.contains(name) && called.insert(name).second) open.push_back(name);
  };
  const auto visit = [&](auto& nodes) {
    for (pb::NodeDef& node : nodes) {
      note(node.op());
      for (auto& [name, value] : *node.mutable_attr()) {
        for (const pb::NameAttrList* function : FunctionsOf(value)) note(function->name());
      }
    }
  };
  visit(*graph_.mutable_node());
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    visit(*library_[name].mutable_node_def());
  }
  pb::FunctionDefLibrary whole;
  whole.Swap(graph_.mutable_library());
  pb::FunctionDefLibrary& kept = *graph_.mutable_library();
  for (const std::string& name : called) kept.add_function()->Swap(&library_[name]);
  for (pb::GradientDef& gradient : *whole.mutable_gradient()) {
    if (called.contains(gradient.function_name()) && called.contains(gradient.gradient_func()))
      kept.add_gradient()->Swap(&gradient);
  }
  for (pb::RegisteredGradient& gradient : *whole.mutable_registered_gradients()) {
    if (called.contains(gradient.gradient_func())) kept.add_registered_gradients()->Swap(&gradient);
  }
}

}  // namespace tenon
