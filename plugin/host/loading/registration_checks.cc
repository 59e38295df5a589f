#include "plugin/host/loading/registration_checks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {
namespace {

using KernelPtr = std::shared_ptr<const KernelDef>;

// Each kernel is compared with at most so many before it, of the same op and device: a plug-in may
// register any number, and comparisons would grow with its square.
constexpr size_t kMaxComparisons = 1000;

// "kernel 'A'", "kernels 'A' and 'B'", "kernels 'A', 'B' and 4 more".
std::string Names(const std::vector<const KernelDef*>& kernels) {
  constexpr size_t kShown = 2;
  std::string text = kernels.size() == 1 ? "kernel " : "kernels ";
  const size_t shown = std::min(kernels.size(), kShown);
  for (size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == kernels.size();
    absl::StrAppend(&text, i == 0 ? "" : last ? " and " : ", ", "'", kernels[i]->class_name, "'");
  }
  if (kernels.size() > shown) absl::StrAppend(&text, " and ", kernels.size() - shown, " more");
  return text;
}

std::string OneOrMany(size_t count, std::string_view one, std::string_view many) {
  return std::string(count == 1 ? one : many);
}

std::string Quoted(const std::vector<std::string_view>& names) {
  if (names.empty()) return "none";
  return absl::StrCat("'", absl::StrJoin(names, "', '"), "'");
}

// Gathers kernels that have the same fault, so that each fault is one sentence.
class Faults {
 public:
  // The fault as a verb with its object, of one kernel and of several: "is for …", "are for …".
  void Add(const KernelDef& kernel, const std::string& one, const std::string& many) {
    kernels_[{one, many}].push_back(&kernel);
  }
  std::vector<std::string> Sentences() const {
    std::vector<std::string> sentences;
    for (const auto& [fault, kernels] : kernels_) {
      sentences.push_back(
          absl::StrCat(Names(kernels), " ", OneOrMany(kernels.size(), fault.first, fault.second)));
    }
    return sentences;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::vector<const KernelDef*>> kernels_;
};

void CheckArguments(const KernelDef& kernel, const OpDef& op, Faults& faults) {
  std::vector<std::string_view> names;
  for (const ArgDef& input : op.inputs) names.push_back(input.name);
  for (const ArgDef& output : op.outputs) names.push_back(output.name);
  for (const std::string& wanted : kernel.host_memory_args) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    const std::string rest =
        absl::StrCat(" '", wanted, "' in HostMemory, which is no argument of op ", op.name,
                     " (those are ", Quoted(names), "): no node can use ");
    faults.Add(kernel, absl::StrCat("names", rest, "it"), absl::StrCat("name", rest, "them"));
  }
}

// Constraints on attributes that start with '_' pass: those are never part of an OpDef.
void CheckConstraints(const KernelDef& kernel, const OpDef& op, Faults& faults) {
  std::vector<std::string_view> names;
  for (const AttrDef& attr : op.attrs) {
    if (attr.kind == AttrKind::kType) names.push_back(attr.name);
  }
  for (const KernelDef::Constraint& constraint : kernel.constraints) {
    if (absl::StartsWith(constraint.attr, "_")) continue;
    if (std::find(names.begin(), names.end(), constraint.attr) != names.end()) continue;
    const std::string rest =
        absl::StrCat(" '", constraint.attr, "', which is no type attribute of op ", op.name,
                     " (those are ", Quoted(names), "): no node can use ");
    faults.Add(kernel, absl::StrCat("constrains", rest, "it"),
               absl::StrCat("constrain", rest, "them"));
  }
}

// Finds, among kernels for one op and device, those between which neither types nor label nor
// priority decide. One competitor is enough to report a kernel.
void CheckCompeting(const std::vector<const KernelDef*>& kernels, Faults& faults) {
  for (size_t i = 1; i < kernels.size(); ++i) {
    const size_t first = i < kMaxComparisons ? 0 : i - kMaxComparisons;
    for (size_t k = first; k < i; ++k) {
      if (!Compete(*kernels[k], *kernels[i])) continue;
      const std::string rest =
          absl::StrCat(" nodes of op ", kernels[i]->op, " on ", kernels[i]->device_type,
                       " that an earlier kernel of the same priority fits: such nodes fail");
      faults.Add(*kernels[i], absl::StrCat("fits", rest), absl::StrCat("fit", rest));
      break;
    }
  }
}

void AddOfNoDevice(const KernelDef& kernel, const std::set<std::string>& device_types,
                   Faults& faults) {
  const std::string rest =
      absl::StrCat(" for device type '", kernel.device_type, "', which nobody brings (there are ",
                   absl::StrJoin(device_types, ", "), ")");
  faults.Add(kernel, absl::StrCat("is", rest), absl::StrCat("are", rest));
}

void AddOfNoOp(const KernelDef& kernel, const std::string& hint, Faults& faults) {
  const std::string rest = absl::StrCat(" for op '", kernel.op, "', which nobody registered", hint);
  faults.Add(kernel, absl::StrCat("is", rest), absl::StrCat("are", rest));
}

std::string ClosestOp(const std::string& op) {
  const std::string_view closest = OpRegistry::Global().Closest(op);
  return closest.empty() ? "" : absl::StrCat(" (did you mean '", closest, "'?)");
}

}  // namespace

std::vector<std::string> DoubtfulKernels(std::string_view plugin,
                                         const std::set<std::string>& device_types) {
  const std::vector<KernelPtr> kernels = KernelRegistry::Global().ListOf(plugin);
  Faults faults;
  std::string hint;                         // for the op that `kernel` is for
  std::vector<const KernelDef*> competing;  // of one op and device, which lie together
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelDef& kernel = *kernels[i];
    const bool new_op = i == 0 || kernels[i - 1]->op != kernel.op;
    const bool new_device = new_op || kernels[i - 1]->device_type != kernel.device_type;
    if (new_device) CheckCompeting(std::exchange(competing, {}), faults);
    const OpDef* const op = OpRegistry::Global().Find(kernel.op);
    if (op == nullptr && new_op) hint = ClosestOp(kernel.op);
    if (op == nullptr) {
      AddOfNoOp(kernel, hint, faults);
    } else {
      CheckArguments(kernel, *op, faults);
      CheckConstraints(kernel, *op, faults);
    }
    const bool has_device = device_types.contains(kernel.device_type);
    if (!has_device) AddOfNoDevice(kernel, device_types, faults);
    if (op != nullptr && has_device) competing.push_back(&kernel);
  }
  CheckCompeting(competing, faults);
  return faults.Sentences();
}

}  // namespace tenon
