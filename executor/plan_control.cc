// Dead values: liveness flags for what lies behind a Switch; everything else carries none.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/plan_builder.h"
#include "executor/plan_builder_inl.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

// Deeper flags are not known to imply others: then branches within them are not jumped over as a
// whole.
constexpr int32_t kMaxFlagDepth = 64;

}  // namespace

int32_t PlanBuilder::NewFlags(int32_t count, int32_t parent) {
  const int32_t first = plan_->num_alive;
  plan_->num_alive += count;
  if (flags_[parent].depth >= kMaxFlagDepth) parent = 0;
  flags_.resize(plan_->num_alive, {parent, flags_[parent].depth + 1});
  return first;
}

// That the step just added sets these flags, and how little it does if `guard` is dead.
void PlanBuilder::SetsFlags(int32_t first, int32_t count, int32_t guard) {
  steps_.back().first_flag = first;
  steps_.back().num_flags = count;
  steps_.back().guard = guard;
}

// Whether `other` lives whenever `flag` does.
bool PlanBuilder::Implies(int32_t flag, int32_t other) const {
  while (flags_[flag].depth > flags_[other].depth) flag = flags_[flag].parent;
  return flag == other;
}

int32_t PlanBuilder::CommonFlag(int32_t a, int32_t b) const {
  while (a != b) {
    int32_t& deeper = flags_[a].depth >= flags_[b].depth ? a : b;
    deeper = flags_[deeper].parent;
  }
  return a;
}

int32_t PlanBuilder::BothAlive(NodeId n, int32_t a, int32_t b) {
  if (Implies(a, b)) return a;
  if (Implies(b, a)) return b;
  const FlagPair key(std::min(a, b), std::max(a, b));
  if (const auto it = both_alive_.find(key); it != both_alive_.end()) return it->second;
  const int32_t out = NewFlags(1, a);
  both_alive_[key] = out;
  both_alive_made_.push_back(key);
  AddSlowStep(n, std::make_unique<BothAliveStep>(a, b, out), 0, {}, {});
  SetsFlags(out, 1, a);
  return out;
}

// What tells values apart that choose outputs: a constant's data, or else their storage.
std::pair<const void*, int32_t> PlanBuilder::ChosenBy(int32_t choice, int32_t storage) const {
  const Tensor* const constant = values_[choice].constant;
  if (constant != nullptr) return {constant->data(), -1};
  return {nullptr, storage};
}

// The flags of the outputs of a Switch on value `choice`. One step serves all Switches on it.
absl::StatusOr<int32_t> PlanBuilder::Family(NodeId n, int32_t choice, int32_t count) {
  const int32_t alive = node_alive_[n];
  TENON_ASSIGN_OR_RETURN(const int32_t storage, ReadStorage(choice));
  const auto chosen_by = ChosenBy(choice, storage);
  const Choice key(chosen_by.first, chosen_by.second, alive, count);
  if (const auto it = families_.find(key); it != families_.end()) return it->second;
  const int32_t first = NewFlags(count, alive);
  for (int32_t i = 0; i < count; ++i) {
    flags_[first + i].family = first;
    flags_[first + i].family_size = count;
    flags_[first + i].chosen_by = chosen_by;
  }
  families_[key] = first;
  families_made_.push_back(key);
  AddSlowStep(n, std::make_unique<SwitchStep>(InputOf(choice), alive, first, count), 0, {storage},
              {});
  SetsFlags(first, count, alive);
  return first;
}

// The output that a Switch on this value takes whenever it runs, where a Switch on the same value
// has decided that already; -1: none has.
int32_t PlanBuilder::TakenOutput(std::pair<const void*, int32_t> chosen_by, int32_t count,
                                 int32_t alive) const {
  const auto find = [&](int32_t flag) {
    for (; flag != 0; flag = flags_[flag].parent) {
      const Flag& f = flags_[flag];
      if (f.family != 0 && f.family_size == count && f.chosen_by == chosen_by)
        return flag - f.family;
    }
    return -1;
  };
  int32_t taken = find(alive);
  for (int32_t s = scope_; s >= 0 && taken < 0; s = loop_scopes_[s].parent)
    taken = find(loop_scopes_[s].guard);
  return taken;
}

absl::Status PlanBuilder::AddSwitch(NodeId n) {
  const std::span<const Output> inputs = in_.graph.data_inputs(n);
  int32_t data = ValueOf(inputs[0]);
  if (value(data).reference) {
    TENON_ASSIGN_OR_RETURN(data, InputValue(n, 0, nullptr));
  }
  const int32_t outputs = in_.graph.num_outputs(n);
  TENON_ASSIGN_OR_RETURN(const int32_t choice, InputValue(n, 1, nullptr));
  if (value(choice).shape != nullptr && value(choice).shape->rank() != 0) {
    return FailLater(n, absl::InvalidArgumentError(absl::StrCat(
                            "what chooses the output must be a scalar, but its shape is ",
                            value(choice).shape->ToString())));
  }
  TENON_ASSIGN_OR_RETURN(const int32_t storage, ReadStorage(choice));
  const int32_t alive = node_alive_[n];
  const int32_t taken = TakenOutput(ChosenBy(choice, storage), outputs, alive);
  int32_t first = 0;
  if (taken < 0) {
    TENON_ASSIGN_OR_RETURN(first, Family(n, choice, outputs));
  }
  const int32_t never = taken < 0 ? 0 : NewFlags(1, alive);  // no step sets it
  TENON_RETURN_IF_ERROR(ReadStorage(data).status());
  for (int32_t port = 0; port < outputs; ++port) {
    const int32_t out = first_value_[n] + port;
    ShareValue(out, data);
    value(out).alive = taken < 0 ? first + port : port == taken ? alive : never;
  }
  return absl::OkStatus();
}

// When a Merge of these lives, as far as that is known: with one that lives whenever any other
// does, or with the parent of a family that it has all members of. -1: it needs a flag of its own.
int32_t PlanBuilder::MergedAlive(absl::Span<const int32_t> alive) const {
  int32_t common = alive[0];
  for (int32_t flag : alive) common = CommonFlag(common, flag);
  if (std::find(alive.begin(), alive.end(), common) != alive.end()) return common;
  const int32_t family = flags_[alive[0]].family;
  const int32_t size = flags_[alive[0]].family_size;
  if (family == 0) return -1;
  std::vector<int32_t> members(alive.begin(), alive.end());
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  const bool all = static_cast<int32_t>(members.size()) == size && members.front() == family &&
                   members.back() == family + size - 1;
  return all ? flags_[family].parent : -1;
}

absl::Status PlanBuilder::AddMerge(NodeId n) {
  std::vector<StepInput> inputs;
  std::vector<int32_t> alive, storages;
  const Shape* shape = nullptr;
  bool same_shape = true;
  for (int i = 0; i < in_.graph.num_inputs(n); ++i) {
    TENON_ASSIGN_OR_RETURN(const int32_t id, InputValue(n, i, nullptr));
    TENON_ASSIGN_OR_RETURN(const int32_t storage, ReadStorage(id));
    const PlanValue& v = value(id);
    storages.push_back(storage);
    inputs.push_back(InputOf(id));
    alive.push_back(v.alive);
    same_shape &= v.shape != nullptr && (shape == nullptr || shape == v.shape);
    shape = v.shape;
  }
  if (alive.empty()) return absl::InvalidArgumentError("it has no inputs");
  int32_t common = alive[0];
  for (int32_t flag : alive) common = CommonFlag(common, flag);
  const int32_t known = MergedAlive(alive);
  const int32_t flag = known >= 0 ? known : NewFlags(1, common);
  node_alive_[n] = flag;
  const int32_t out = first_value_[n];
  PlanValue& v = value(out);
  PlanValue& index = value(out + 1);
  v.alive = index.alive = flag;
  index.shape = Known(Shape());
  index.storage = NewStorage(Where::kArena, sizeof(int32_t));
  int32_t slot = -1;
  size_t bytes = 0;
  if (same_shape && IsMemcpyable(v.dtype)) {
    v.shape = shape;
    TENON_ASSIGN_OR_RETURN(bytes, TensorBytes(v.dtype, *shape));
    v.storage = NewStorage(Where::kArena, bytes);
  } else {
    if (same_shape) v.shape = shape;
    v.storage = NewSlot();
    slot = storages_[v.storage].index;
  }
  AddSlowStep(n,
              std::make_unique<MergeStep>(std::move(inputs), std::move(alive),
                                          known >= 0 ? -1 : flag, slot, bytes),
              0, storages, {v.storage, index.storage});
  SetsFlags(flag, known >= 0 ? 0 : 1, common);
  return absl::OkStatus();
}

}  // namespace tenon
