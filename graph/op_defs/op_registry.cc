// Built-in ops are rows of text. A row is parsed at the first question about the op, since a graph
// uses few of the rows. The map of names is complete from the start and read without a lock, that
// of ops with nothing but a signature from the first question on that needs it.

#include "graph/op_defs/op_registry.h"

#include <unistd.h>

#include <atomic>
#include <deque>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "graph/base/closest.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_row.h"

namespace tenon {
namespace {

// One of `spec` and `row` says what the op is.
struct BuiltinOp {
  const OpSpec* spec = nullptr;
  std::string_view row;  // of a table of signatures
  std::atomic<const OpDef*> def{nullptr};
};

}  // namespace

struct OpRegistry::Impl {
  // Filled once by the constructor; only the `def` of an entry changes later, so that lookups need
  // no lock.
  std::unique_ptr<BuiltinOp[]> builtin_ops;
  absl::flat_hash_map<std::string_view, BuiltinOp*> builtin;
  // Filled at the first question that `builtin` does not answer, and like it from then on. No
  // once_flag: one of Abseil's waits for ever after an exception, as where memory is short, and its
  // map is not to be used any more.
  absl::Mutex signatures_mu;
  std::atomic<bool> signatures_read{false};
  std::deque<BuiltinOp> signature_ops;
  std::unordered_map<std::string_view, BuiltinOp*> signatures;

  absl::Mutex mu;
  absl::flat_hash_map<std::string_view, OpDef*> registered ABSL_GUARDED_BY(mu);
  absl::flat_hash_map<std::string_view, OpDef*> removed ABSL_GUARDED_BY(mu);  // the last of a name
  std::deque<OpDef> storage ABSL_GUARDED_BY(mu);   // everything ever parsed or registered
  std::deque<OpFacts> stated ABSL_GUARDED_BY(mu);  // by registered ops

  const OpDef* ParseBuiltin(BuiltinOp& op) {
    absl::MutexLock lock(&mu);
    // Another thread may have parsed it while this one waited for the lock.
    if (const OpDef* def = op.def.load(std::memory_order_acquire)) return def;
    absl::StatusOr<OpDef> parsed =
        op.spec != nullptr ? ParseOpSpec(*op.spec) : ParseSignature(op.row);
    if (!parsed.ok()) return nullptr;  // a mistake in a table; a test parses them all
    const OpDef* def = &storage.emplace_back(*std::move(parsed));
    op.def.store(def, std::memory_order_release);
    return def;
  }

  void ReadSignatures() {
    absl::MutexLock lock(&signatures_mu);
    if (signatures_read.load(std::memory_order_acquire)) return;
    signatures.clear();
    signature_ops.clear();
    for (std::string_view table : SignatureTables()) {
      for (std::string_view row : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
        BuiltinOp& op = signature_ops.emplace_back();
        op.row = row;
        signatures.emplace(row.substr(0, row.find('|')), &op);
      }
    }
    signatures_read.store(true, std::memory_order_release);
  }

  // The built-in op of the name; null if there is none.
  BuiltinOp* FindBuiltin(std::string_view name) {
    if (const auto it = builtin.find(name); it != builtin.end()) return it->second;
    if (!signatures_read.load(std::memory_order_acquire)) ReadSignatures();
    const auto it = signatures.find(name);
    return it == signatures.end() ? nullptr : it->second;
  }
};

OpRegistry::OpRegistry() : impl_(new Impl) {
  size_t count = 0;
  for (absl::Span<const OpSpec> family : BuiltinOps()) count += family.size();
  impl_->builtin_ops = std::make_unique<BuiltinOp[]>(count);
  impl_->builtin.reserve(count);
  BuiltinOp* next = impl_->builtin_ops.get();
  for (absl::Span<const OpSpec> family : BuiltinOps()) {
    for (const OpSpec& spec : family) {
      next->spec = &spec;
      impl_->builtin.emplace(spec.name, next++);
    }
  }
}

OpRegistry& OpRegistry::Global() {
  // Never destroyed: destructors of static objects, in plug-ins too, may still ask.
  static OpRegistry* const registry = new OpRegistry;
  return *registry;
}

const OpDef* OpRegistry::Find(std::string_view name) {
  if (BuiltinOp* const op = impl_->FindBuiltin(name)) {
    const OpDef* def = op->def.load(std::memory_order_acquire);
    return def != nullptr ? def : impl_->ParseBuiltin(*op);
  }
  absl::ReaderMutexLock lock(&impl_->mu);
  const auto it = impl_->registered.find(name);
  return it != impl_->registered.end() ? it->second : nullptr;
}

const OpFacts& OpRegistry::Facts(std::string_view name) {
  if (const auto it = impl_->builtin.find(name); it != impl_->builtin.end())
    return it->second->spec->facts;
  absl::ReaderMutexLock lock(&impl_->mu);
  const auto it = impl_->registered.find(name);
  return it != impl_->registered.end() ? *it->second->facts : kNoFacts;
}

bool OpRegistry::IsBuiltin(std::string_view name) const {
  return impl_->FindBuiltin(name) != nullptr;
}

absl::Status OpRegistry::Register(OpDef op) {
  TENON_ASSIGN_OR_RETURN(const OpFacts facts, StatedFacts(op));
  const bool builtin = IsBuiltin(op.name);
  absl::MutexLock lock(&impl_->mu);
  if (builtin || impl_->registered.contains(op.name)) {
    return absl::AlreadyExistsError(absl::StrCat("Op with name ", op.name));
  }
  // An op that comes back as it was takes its old place: a plug-in may be loaded again and again.
  const auto was = impl_->removed.find(op.name);
  OpDef* def;
  if (was != impl_->removed.end() && OpDefToWire(*was->second) == OpDefToWire(op)) {
    def = was->second;
    def->shape_fn = std::move(op.shape_fn);
    impl_->removed.erase(was);
  } else {
    if (op.FindAttr(kFactsAttr) != nullptr) op.facts = &impl_->stated.emplace_back(facts);
    def = &impl_->storage.emplace_back(std::move(op));
  }
  impl_->registered.emplace(def->name, def);
  return absl::OkStatus();
}

void OpRegistry::Remove(std::string_view name) {
  absl::MutexLock lock(&impl_->mu);
  const auto it = impl_->registered.find(name);
  if (it == impl_->registered.end()) return;
  OpDef* const def = it->second;
  impl_->registered.erase(it);
  def->shape_fn = nullptr;  // its code may go, while graphs still point to the op
  impl_->removed.insert_or_assign(def->name, def);
}

std::vector<std::string_view> OpRegistry::Names() {
  std::vector<std::string_view> names;
  impl_->FindBuiltin("");  // reads the signatures
  for (const auto& [name, op] : impl_->builtin) names.push_back(name);
  for (const auto& [name, op] : impl_->signatures) names.push_back(name);
  {
    absl::ReaderMutexLock lock(&impl_->mu);
    for (const auto& [name, op] : impl_->registered) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view OpRegistry::Closest(std::string_view name) {
  ClosestName closest(name);
  for (std::string_view candidate : Names()) closest.Offer(candidate);
  return closest.best();
}

absl::Status OpNotRegistered(std::string_view name) {
  char host[256] = "this host";
  gethostname(host, sizeof(host) - 1);
  return absl::NotFoundError(absl::StrCat(
      "Op type not registered '", name, "' in binary running on ", host,
      ". Make sure the Op and Kernel are registered in the binary running in this process. Note "
      "that if you are loading a saved graph which used ops from tf.contrib (e.g. "
      "`tf.contrib.resampler`), accessing should be done before importing the graph, as contrib "
      "ops are lazily registered when the module is first accessed."));
}

}  // namespace tenon
