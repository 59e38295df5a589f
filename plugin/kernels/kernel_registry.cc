#include "plugin/kernels/kernel_registry.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "graph/op_defs/attr_text.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"
#include "graph/tensor/dtype.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {

constexpr std::string_view kHostDevice = "CPU", kDefaultDevice = "DEFAULT";

bool IsForDevicesOf(const KernelDef& kernel, std::string_view plugin) {
  if (kernel.cpu != nullptr) return plugin.empty() || kernel.device_type == kDefaultDevice;
  return !kernel.own_devices_only || kernel.plugin == plugin;
}

// Whether some device may get either kernel: each device belongs to the host or to one plug-in.
static bool Meet(const KernelDef& a, const KernelDef& b) {
  const std::string_view plugin = a.own_devices_only   ? a.plugin
                                  : b.own_devices_only ? b.plugin
                                                       : std::string_view();
  return a.device_type == b.device_type && IsForDevicesOf(a, plugin) && IsForDevicesOf(b, plugin);
}

bool Compete(const KernelDef& a, const KernelDef& b) {
  if (!Meet(a, b) || a.label != b.label || a.priority != b.priority) return false;
  return std::all_of(a.constraints.begin(), a.constraints.end(), [&](const auto& mine) {
    const auto other = std::find_if(b.constraints.begin(), b.constraints.end(),
                                    [&](const auto& c) { return c.attr == mine.attr; });
    if (other == b.constraints.end()) return true;
    return std::any_of(mine.allowed.begin(), mine.allowed.end(), [&](DataType t) {
      return std::find(other->allowed.begin(), other->allowed.end(), t) != other->allowed.end();
    });
  });
}

namespace {

constexpr std::string_view kLabelAttr = "_kernel";  // TensorFlow's attribute for a kernel's label
constexpr int kNumTypes = 34;                       // above every DataType that is no reference

using KernelPtr = std::shared_ptr<const KernelDef>;

// The rows of kernel tables become the same KernelDefs that plug-ins register, so that one search
// serves both.
KernelPtr FromCpuSpec(const CpuKernelSpec& spec, std::string_view device_type) {
  auto kernel = std::make_shared<KernelDef>();
  kernel->op = spec.op;
  kernel->device_type = std::string(device_type);
  kernel->cpu = &spec;
  if (device_type == kDefaultDevice) {
    kernel->host_memory_args =
        absl::StrSplit(OpRegistry::Global().Facts(spec.op).host_args, ' ', absl::SkipEmpty());
  }
  for (const TypeConstraint& constraint : spec.constraints) {
    KernelDef::Constraint& c = kernel->constraints.emplace_back();
    c.attr = std::string(constraint.attr);
    for (int t = 1; t < kNumTypes; ++t) {
      const DataType type = static_cast<DataType>(t);
      if ((constraint.types & TypeBit(type)) != 0) c.allowed.push_back(type);
    }
  }
  return kernel;
}

// The node's value of an attribute, or the op's default.
AttrValue FindAttr(const AttrSet& attrs, const OpDef* op_def, std::string_view name) {
  if (const AttrValue* value = attrs.Find(name)) return *value;
  if (const AttrDef* def = op_def == nullptr ? nullptr : op_def->FindAttr(name);
      def != nullptr && def->has_default) {
    return AttrValue(def->default_wire);
  }
  return AttrValue();
}

// The types that a `type` or `list(type)` attribute names; empty for another kind.
std::vector<DataType> TypesOf(const AttrValue& value) {
  if (value.kind() == AttrKind::kType) {
    const absl::StatusOr<DataType> type = value.AsType();
    return type.ok() ? std::vector<DataType>{*type} : std::vector<DataType>{};
  }
  if (value.kind() != AttrKind::kList) return {};
  const absl::StatusOr<std::vector<DataType>> types = value.AsTypeList();
  return types.ok() ? *types : std::vector<DataType>{};
}

// An empty list of types is allowed by each constraint: none of its types is refused.
bool Allows(const KernelDef::Constraint& constraint, const AttrValue& value) {
  if (value.kind() == AttrKind::kNone) return false;
  const std::vector<DataType> types = TypesOf(value);
  if (types.empty() && value.kind() != AttrKind::kList) return false;
  return std::all_of(types.begin(), types.end(), [&](DataType t) {
    return std::find(constraint.allowed.begin(), constraint.allowed.end(), t) !=
           constraint.allowed.end();
  });
}

// Whether the node's attributes satisfy all constraints of the kernel.
bool AttrsMatch(const KernelDef& kernel, const AttrSet& attrs, const OpDef* op_def) {
  return std::all_of(
      kernel.constraints.begin(), kernel.constraints.end(),
      [&](const KernelDef::Constraint& c) { return Allows(c, FindAttr(attrs, op_def, c.attr)); });
}

// Empty without a label, and for an attribute of another type: such a node asks for no label.
std::string LabelOf(const AttrSet& attrs) {
  const AttrValue* value = attrs.Find(kLabelAttr);
  if (value == nullptr || value->kind() != AttrKind::kString) return {};
  const absl::StatusOr<std::string_view> label = value->AsString();
  return label.ok() ? std::string(*label) : std::string();
}

std::string NodeText(std::string_view node_name) {
  return absl::StrCat("{{node ", node_name, "}}");
}

std::string TypeNames(absl::Span<const DataType> types) {
  return absl::StrJoin(types, ", ",
                       [](std::string* out, DataType t) { absl::StrAppend(out, DataTypeName(t)); });
}

// One registration as TensorFlow's one-line text form of a KernelDef shows it.
std::string ShortText(const KernelDef& kernel) {
  std::string text =
      absl::StrCat("op: \"", kernel.op, "\" device_type: \"", kernel.device_type, "\"");
  for (const KernelDef::Constraint& c : kernel.constraints) {
    absl::StrAppend(&text, " constraint { name: \"", c.attr, "\" allowed_values { list {");
    for (DataType t : c.allowed) absl::StrAppend(&text, " type: ", DataTypeName(t));
    absl::StrAppend(&text, " } } }");
  }
  for (const std::string& arg : kernel.host_memory_args) {
    absl::StrAppend(&text, " host_memory_arg: \"", arg, "\"");
  }
  if (!kernel.label.empty()) absl::StrAppend(&text, " label: \"", kernel.label, "\"");
  if (kernel.priority != 0) absl::StrAppend(&text, " priority: ", kernel.priority);
  return text;
}

// The list of registrations at the end of TensorFlow's messages.
std::string ListText(absl::Span<const KernelPtr> kernels) {
  if (kernels.empty()) return "  <no registered kernels>\n";
  std::string text;
  for (const KernelPtr& kernel : kernels) {
    absl::StrAppend(&text, "  device='", kernel->device_type, "'");
    if (!kernel->label.empty()) absl::StrAppend(&text, "; label='", kernel->label, "'");
    for (const KernelDef::Constraint& c : kernel->constraints) {
      absl::StrAppend(&text, "; ", c.attr, " in [", TypeNames(c.allowed), "]");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

// The value as TensorFlow's messages show it; "..." for a value without a short text.
std::string AttrText(const AttrValue& value) {
  if (std::string text = PlainAttrText(value); !text.empty()) return text;
  if (value.kind() == AttrKind::kString)
    return absl::StrCat("\"", value.AsString().value_or(""), "\"");
  const std::vector<DataType> types = TypesOf(value);
  if (value.kind() == AttrKind::kType) return TypeNames(types);
  return value.kind() == AttrKind::kList && !types.empty()
             ? absl::StrCat("[", TypeNames(types), "]")
             : "...";
}

std::string AttrsText(const AttrSet& attrs) {
  return absl::StrJoin(attrs.all(), ", ", [](std::string* out, const Attr& attr) {
    absl::StrAppend(out, attr.name, "=", AttrText(attr.value));
  });
}

// The line for the first kernel that constrains an attribute which the node lacks; empty if no
// kernel does.
std::string StrayConstraint(absl::Span<const KernelPtr> kernels, const AttrSet& attrs,
                            const OpDef* op_def) {
  for (const KernelPtr& kernel : kernels) {
    for (const KernelDef::Constraint& c : kernel->constraints) {
      if (FindAttr(attrs, op_def, c.attr).kind() != AttrKind::kNone) continue;
      return absl::StrCat("OpKernel '", kernel->op, "' has constraint on attr '", c.attr,
                          "' not in NodeDef '[", AttrsText(attrs), "]', KernelDef: '",
                          ShortText(*kernel), "'\n");
    }
  }
  return "";
}

// The node's values of the attributes that some kernel constrains, each once: "T=float".
std::string RequestedText(absl::Span<const KernelPtr> kernels, const AttrSet& attrs,
                          const OpDef* op_def) {
  std::vector<std::string> parts;
  for (const KernelPtr& kernel : kernels) {
    for (const KernelDef::Constraint& c : kernel->constraints) {
      std::string part =
          absl::StrCat(c.attr, "=", TypeNames(TypesOf(FindAttr(attrs, op_def, c.attr))));
      if (std::find(parts.begin(), parts.end(), part) == parts.end())
        parts.push_back(std::move(part));
    }
  }
  return absl::StrJoin(parts, ", ");
}

// Which of two registrations of the same priority serves, as far as a rule decides; null if none
// does. A plug-in's kernel goes before a built-in one: people load it to be used. Of two plug-ins
// the one of higher rank goes first, else the one that was loaded first. TensorFlow has no such
// rules, and fails there.
const KernelPtr* Prefer(const KernelPtr& first, const KernelPtr& second) {
  if (first->plugin == second->plugin) return nullptr;
  if (first->plugin.empty()) return &second;
  if (second->plugin.empty()) return &first;
  return second->plugin_priority > first->plugin_priority ? &second : &first;
}

// The result of a search among the kernels for one device type.
struct Match {
  KernelPtr kernel;
  KernelPtr ambiguous;    // another of the same priority that Prefer cannot tell from `kernel`
  bool mismatch = false;  // there are kernels, but the attributes fit none
};

// Goes through the kernels in the order of their registration, by which Prefer decides in the end.
Match FindOn(absl::Span<const KernelPtr> kernels, std::string_view device_type,
             std::string_view device_plugin, std::string_view label, const AttrSet& attrs,
             const OpDef* op_def) {
  Match match;
  for (const KernelPtr& kernel : kernels) {
    if (kernel->device_type != device_type || kernel->label != label) continue;
    if (!IsForDevicesOf(*kernel, device_plugin)) continue;
    if (!AttrsMatch(*kernel, attrs, op_def)) {
      match.mismatch = true;
      continue;
    }
    if (!match.kernel || kernel->priority > match.kernel->priority) {
      match.kernel = kernel;
      match.ambiguous = nullptr;
    } else if (kernel->priority == match.kernel->priority) {
      const KernelPtr* preferred = Prefer(match.kernel, kernel);
      if (preferred == nullptr) {
        match.ambiguous = kernel;
      } else if (*preferred == kernel) {
        match.kernel = kernel;
        match.ambiguous = nullptr;
      }
    }
  }
  return match;
}

// TensorFlow's message, with the plug-in if both kernels are of one: it has to be mended there.
absl::Status AmbiguousError(const Match& match, std::string_view node_name) {
  const std::string& plugin = match.kernel->plugin;
  return absl::InvalidArgumentError(absl::StrCat(
      "Multiple OpKernel registrations match NodeDef at the same priority '", NodeText(node_name),
      "': '", ShortText(*match.kernel), "' and '", ShortText(*match.ambiguous), "'",
      plugin.empty() ? "" : absl::StrCat(" (both of plug-in ", plugin, ")")));
}

// The reason for which a kernel cannot serve the node, whatever the node's types; empty if there is
// none.
std::string Obstacle(const KernelDef& kernel, const AttrSet& attrs, const OpDef* op_def) {
  if (const std::string label = LabelOf(attrs); kernel.label != label) {
    return absl::StrCat("has the label '", kernel.label, "' where the node's _kernel is '", label,
                        "'");
  }
  for (const KernelDef::Constraint& c : kernel.constraints) {
    if (FindAttr(attrs, op_def, c.attr).kind() == AttrKind::kNone)
      return absl::StrCat("constrains '", c.attr, "', which is no attribute of the node");
  }
  return "";
}

}  // namespace

struct KernelRegistry::Impl {
  mutable absl::Mutex mutex;
  bool has_builtin ABSL_GUARDED_BY(mutex) = false;
  absl::flat_hash_map<std::string, std::vector<KernelPtr>> by_op ABSL_GUARDED_BY(mutex);

  void AddBuiltin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (has_builtin) return;
    // They join all at once: if memory is short, the next question starts anew.
    absl::flat_hash_map<std::string, std::vector<KernelPtr>> with_builtin = by_op;
    for (absl::Span<const CpuKernelSpec> family : CpuKernels()) {
      for (const CpuKernelSpec& spec : family) {
        std::vector<KernelPtr>& kernels = with_builtin[spec.op];
        kernels.push_back(FromCpuSpec(spec, kHostDevice));
        if (OpRegistry::Global().Facts(spec.op).other_devices != OtherDevices::kNever)
          kernels.push_back(FromCpuSpec(spec, kDefaultDevice));
      }
    }
    by_op = std::move(with_builtin);
    has_builtin = true;
  }
  // Built-in kernels are added at the first question, not by a constructor: plug-ins may register
  // before the host's static objects are made, and a process that asks for none pays nothing.
  void EnsureBuiltin() ABSL_LOCKS_EXCLUDED(mutex) {
    {
      absl::ReaderMutexLock lock(&mutex);
      if (has_builtin) return;
    }
    absl::MutexLock lock(&mutex);
    AddBuiltin();
  }
};

KernelRegistry::KernelRegistry() : impl_(new Impl) {}

// Never destroyed: plug-ins' destructors may register or ask while the process ends.
KernelRegistry& KernelRegistry::Global() {
  static KernelRegistry* const registry = new KernelRegistry;
  return *registry;
}

void KernelRegistry::Register(std::shared_ptr<const KernelDef> kernel) {
  absl::MutexLock lock(&impl_->mutex);
  impl_->by_op[kernel->op].push_back(std::move(kernel));
}

// While anybody has a share of a definition beside the registry's, the plug-in's code may be
// called.
bool KernelRegistry::RemovePlugin(std::string_view plugin) {
  if (plugin.empty()) return false;
  absl::MutexLock lock(&impl_->mutex);
  bool in_use = false;
  for (auto& [op, kernels] : impl_->by_op) {
    std::erase_if(kernels, [&](const KernelPtr& kernel) {
      if (kernel->plugin != plugin) return false;
      in_use |= kernel.use_count() > 1;
      return true;
    });
  }
  return in_use;
}

bool KernelRegistry::InUse(std::string_view plugin) const {
  absl::ReaderMutexLock lock(&impl_->mutex);
  for (const auto& [op, kernels] : impl_->by_op) {
    for (const KernelPtr& kernel : kernels) {
      if (kernel->plugin == plugin && kernel.use_count() > 1) return true;
    }
  }
  return false;
}

std::vector<std::string> KernelRegistry::Precedence(std::string_view plugin) const {
  impl_->EnsureBuiltin();
  // The number of pairs that compete, by the other kernel's plug-in and by whether this plug-in's
  // kernel goes first.
  std::map<std::pair<std::string, bool>, int> competing;
  {
    absl::ReaderMutexLock lock(&impl_->mutex);
    for (const auto& [op, kernels] : impl_->by_op) {
      // A plug-in may have very many kernels of one op, and those are not compared with each other.
      std::vector<size_t> mine, others;
      for (size_t i = 0; i < kernels.size(); ++i)
        (kernels[i]->plugin == plugin ? mine : others).push_back(i);
      for (const size_t i : mine) {
        for (const size_t k : others) {
          const KernelPtr &first = kernels[std::min(i, k)], &second = kernels[std::max(i, k)];
          if (Compete(*first, *second))
            ++competing[{kernels[k]->plugin, (*Prefer(first, second))->plugin == plugin}];
        }
      }
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [group, count] : competing) {
    const auto& [other, first] = group;
    sentences.push_back(absl::StrCat(
        "at equal priority its kernels go ", first ? "before " : "behind ", count, " of ",
        other.empty() ? "the built-in ones"
                      : absl::StrCat(other, " (;priority=, else the order of loading, decides)")));
  }
  return sentences;
}

absl::StatusOr<std::shared_ptr<const KernelDef>> KernelRegistry::Find(
    std::string_view node_name, std::string_view op, const AttrSet& attrs, const OpDef* op_def,
    std::string_view device_type, std::string_view device_plugin) const {
  impl_->EnsureBuiltin();
  absl::ReaderMutexLock lock(&impl_->mutex);
  const auto it = impl_->by_op.find(op);
  const absl::Span<const KernelPtr> kernels =
      it == impl_->by_op.end() ? absl::Span<const KernelPtr>() : absl::MakeConstSpan(it->second);
  const std::string label = LabelOf(attrs);
  bool mismatch = false;
  // A kernel for DEFAULT serves any device that has none of its own, as in TensorFlow.
  for (std::string_view type : {device_type, kDefaultDevice}) {
    Match match = FindOn(kernels, type, device_plugin, label, attrs, op_def);
    if (match.ambiguous) return AmbiguousError(match, node_name);
    if (match.kernel) return std::move(match.kernel);
    mismatch |= match.mismatch;
  }
  return absl::NotFoundError(absl::StrCat(
      "No registered '", op, "' OpKernel for '", device_type, "' devices compatible with node ",
      NodeText(node_name),
      mismatch
          ? absl::StrCat(
                "\n\t (OpKernel was found, but attributes didn't match) Requested Attributes: ",
                RequestedText(kernels, attrs, op_def))
          : "",
      "\n\t.  Registered:", ListText(kernels)));
}

std::string KernelRegistry::StrayConstraintText(std::string_view op, const AttrSet& attrs,
                                                const OpDef* op_def) const {
  impl_->EnsureBuiltin();
  absl::ReaderMutexLock lock(&impl_->mutex);
  const auto it = impl_->by_op.find(op);
  if (it == impl_->by_op.end()) return "";
  return StrayConstraint(it->second, attrs, op_def);
}

std::string KernelRegistry::RegisteredText(std::string_view op) const {
  impl_->EnsureBuiltin();
  absl::ReaderMutexLock lock(&impl_->mutex);
  const auto it = impl_->by_op.find(op);
  return ListText(it == impl_->by_op.end() ? absl::Span<const KernelPtr>()
                                           : absl::MakeConstSpan(it->second));
}

std::string KernelRegistry::NoKernelText(std::string_view node_name, std::string_view op,
                                         const AttrSet& attrs, const OpDef* op_def,
                                         absl::Span<const std::string_view> device_types) const {
  impl_->EnsureBuiltin();
  absl::ReaderMutexLock lock(&impl_->mutex);
  const auto it = impl_->by_op.find(op);
  const absl::Span<const KernelPtr> kernels =
      it == impl_->by_op.end() ? absl::Span<const KernelPtr>() : absl::MakeConstSpan(it->second);
  return absl::StrCat(StrayConstraint(kernels, attrs, op_def),
                      "No OpKernel was registered to support Op '", op, "' used by ",
                      NodeText(node_name), " with these attrs: [", AttrsText(attrs),
                      "]\nRegistered devices: [", absl::StrJoin(device_types, ", "),
                      "]\nRegistered kernels:\n", ListText(kernels));
}

KernelRegistry::Misfit KernelRegistry::WhyNot(std::string_view op, const AttrSet& attrs,
                                              const OpDef* op_def, std::string_view device_type,
                                              std::string_view device_plugin) const {
  impl_->EnsureBuiltin();
  absl::ReaderMutexLock lock(&impl_->mutex);
  const auto it = impl_->by_op.find(op);
  Misfit misfit;
  if (it == impl_->by_op.end()) return misfit;
  for (const KernelPtr& kernel : it->second) {
    if (kernel->device_type != device_type) continue;
    std::string obstacle = IsForDevicesOf(*kernel, device_plugin)
                               ? Obstacle(*kernel, attrs, op_def)
                               : "is for other devices of the type";
    misfit.types |= obstacle.empty();
    if (misfit.why.empty()) misfit.why = std::move(obstacle);
  }
  return misfit;
}

// Stable, so that kernels of one op and device stay in the order of their registration.
static std::vector<KernelPtr> InOrder(std::vector<KernelPtr> kernels) {
  std::stable_sort(kernels.begin(), kernels.end(), [](const KernelPtr& a, const KernelPtr& b) {
    return std::tie(a->op, a->device_type) < std::tie(b->op, b->device_type);
  });
  return kernels;
}

std::vector<std::shared_ptr<const KernelDef>> KernelRegistry::List(std::string_view op) const {
  impl_->EnsureBuiltin();
  std::vector<KernelPtr> kernels;
  {
    absl::ReaderMutexLock lock(&impl_->mutex);
    for (const auto& [name, registered] : impl_->by_op) {
      if (op.empty() || name == op)
        kernels.insert(kernels.end(), registered.begin(), registered.end());
    }
  }
  return InOrder(std::move(kernels));
}

std::vector<std::shared_ptr<const KernelDef>> KernelRegistry::ListOf(
    std::string_view plugin) const {
  std::vector<KernelPtr> kernels;
  {
    absl::ReaderMutexLock lock(&impl_->mutex);
    for (const auto& [name, registered] : impl_->by_op) {
      for (const KernelPtr& kernel : registered) {
        if (kernel->plugin == plugin) kernels.push_back(kernel);
      }
    }
  }
  return InOrder(std::move(kernels));
}

}  // namespace tenon
