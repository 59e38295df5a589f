// The traces of a function by signature: which one serves a call, and why there is a new one. Used
// by the library's own headers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/internal/function_ref.h"
#include "tenon/internal/function_rep.h"
#include "tenon/internal/signature.h"
#include "tenon/internal/trace_report.h"
#include "tenon/structure.h"
#include "tenon/variable.h"

namespace tenon::inline v0::internal {

struct Trace {
  std::shared_ptr<FunctionRep> function;
  std::shared_ptr<void> result;  // the callable's result, with symbols; null for void
  Signature signature;
  std::string why;
  std::vector<Tensor> constants;  // TraceGraph::constants of the function and of those it calls

  // Whether a tape watches a constant by now, through which no gradient goes.
  bool IsOutdated() const {
    for (const Tensor& constant : constants) {
      if (constant.get()->is_watched.load(std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void NoteConstants() {
    const auto note = [this](const FunctionRep& of) {
      if (of.graph() == nullptr) return;
      constants.insert(constants.end(), of.graph()->constants().begin(),
                       of.graph()->constants().end());
    };
    note(*function);
    for (const auto& callee : function->graph()->callees()) note(*callee);
  }
};

// The traces of one function. Thread-safe, but for Configure.
class TraceTable {
 public:
  using Make = FunctionRef<std::shared_ptr<Trace>(const Signature&)>;
  using DescribeArgs = FunctionRef<std::vector<ArgPart>()>;

  // Must come once, before the other functions.
  void Configure(std::string name, std::vector<TensorSpec> signature, bool relax, Where where) {
    name_ = std::move(name);
    input_signature_ = std::move(signature);
    relax_ = relax;
    where_ = where;
  }

  // The trace for a call, which `make(signature)` makes if there is none, under TraceMutex().
  // `describe()` gives the arguments in words. INVALID_ARGUMENT for tensors that the
  // input_signature does not admit, FAILED_PRECONDITION if the function calls itself while it is
  // traced, with the same arguments or 64 calls deep, and for new variables (NewVariables); else
  // what `make` throws. The fifth trace of the function is told on stderr, once.
  std::shared_ptr<Trace> Find(const CallArgs& call, Make make, DescribeArgs describe) {
    {
      const std::lock_guard lock(mutex_);
      if (last_ != nullptr && last_key_ == call.key && !last_->IsOutdated()) return last_;
      const auto found = by_key_.find(call.key);
      if (found != by_key_.end() && !found->second->IsOutdated()) {
        last_key_ = call.key;
        return last_ = found->second;
      }
    }
    return FindSlowly(call, make, describe);
  }

  int count() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(traces_.size());
  }

  // Each trace in words: its function, why it was made, and FactLines.
  std::string Report() const;

 private:
  struct Tracing {
    TraceTable* table;
    const std::string* key;
    Tracing* outer;
  };
  static Tracing*& CurrentTracing() {
    static thread_local Tracing* current = nullptr;
    return current;
  }

  std::shared_ptr<Trace> FindSlowly(const CallArgs& call, Make make, DescribeArgs describe);
  Signature SignatureOf(const CallArgs& call) const {
    Signature signature;
    if (call.has_specs) {
      signature.tensors = call.specs;
    } else {
      for (const Tensor& tensor : call.tensors) signature.tensors.push_back(SpecOf(tensor));
    }
    signature.constants = call.constants;
    return ApplyInputSignature(std::move(signature));
  }
  Signature ApplyInputSignature(Signature signature) const;
  std::shared_ptr<Trace> Serving(const Signature& signature, const CallArgs& call);
  std::string Why(const Signature& signature) const;
  void Relax(Signature& signature) const;
  void Warn(const Trace& trace);
  void NoteTrace(Trace& trace) const;

  std::string name_;
  std::vector<TensorSpec> input_signature_;
  bool relax_ = false;
  Where where_;
  mutable std::mutex mutex_;
  bool warned_ = false;
  std::vector<std::shared_ptr<Trace>> traces_;
  std::unordered_map<std::string, std::shared_ptr<Trace>> by_key_;
  std::string last_key_;
  std::shared_ptr<Trace> last_;
};

inline std::shared_ptr<Trace> TraceTable::FindSlowly(const CallArgs& call, Make make,
                                                     DescribeArgs describe) {
  const std::lock_guard tracing(TraceMutex());
  Signature signature = SignatureOf(call);
  if (std::shared_ptr<Trace> trace = Serving(signature, call)) return trace;
  signature.parts = describe();
  int depth = 0;  // of calls of the function by itself, with other arguments each
  for (const Tracing* outer = CurrentTracing(); outer != nullptr; outer = outer->outer) {
    if (outer->table != this) continue;
    if (*outer->key == call.key || ++depth >= 64) {
      Throw(TF_FAILED_PRECONDITION,
            "The function \"" + name_ + "\" calls itself while it is traced" +
                (depth >= 64 ? std::string(", 64 calls deep") : std::string()) +
                ". A graph has no recursion: write While, or recurse by a C++ argument that"
                " ends it",
            where_);
    }
  }
  std::string why =
      depth > 0 ? "it calls itself, with other arguments than before" : Why(signature);
  if (relax_ && input_signature_.empty()) Relax(signature);
  Tracing current{this, &call.key, CurrentTracing()};
  struct Restore {
    Tracing* outer;
    ~Restore() { CurrentTracing() = outer; }
  } restore{current.outer};
  CurrentTracing() = &current;
  NewVariables variables{name_, count() != 0, ToString(where_)};
  const NoteVariables note(&variables);
  std::shared_ptr<Trace> trace = make(signature);
  variables.Check();
  trace->signature = std::move(signature);
  trace->why = std::move(why);
  trace->NoteConstants();
  const std::lock_guard lock(mutex_);
  NoteTrace(*trace);
  traces_.push_back(trace);
  by_key_[call.key] = trace;
  if (traces_.size() == 5 || (traces_.size() > 5 && !warned_)) Warn(*trace);
  last_key_ = call.key;
  return last_ = trace;
}

// The type and the shape of a tensor argument in words: "float32(2, 3)".
inline std::string Describe(const ArgSpec& spec) {
  return std::string(Name(spec.dtype)) + spec.shape.ToString();
}

inline Signature TraceTable::ApplyInputSignature(Signature signature) const {
  if (input_signature_.empty()) return signature;
  if (signature.tensors.size() != input_signature_.size()) {
    Throw(TF_INVALID_ARGUMENT,
          "The function \"" + name_ + "\" takes " + std::to_string(input_signature_.size()) +
              " tensors by its input_signature, not " + std::to_string(signature.tensors.size()),
          where_);
  }
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    ArgSpec& given = signature.tensors[i];
    const TensorSpec& wanted = input_signature_[i];
    if (given.dtype != wanted.dtype() || !wanted.shape().Admits(given.shape)) {
      Throw(TF_INVALID_ARGUMENT,
            "Tensor " + std::to_string(i) + " of the function \"" + name_ + "\" is " +
                Describe(given) + ", its input_signature asks for " + Name(wanted.dtype()) +
                wanted.shape().ToString(),
            where_);
    }
    given.shape = wanted.shape();
    given.device = 0;
    given.handle_data = nullptr;  // one trace serves handles of all variables
    if (!wanted.name().empty()) given.name = wanted.name();
  }
  return signature;
}

// How many lengths of the tensors are unknown; an unknown rank counts as more than all of a shape.
inline int64_t Generality(const Signature& signature) {
  int64_t unknown = 0;
  for (const ArgSpec& spec : signature.tensors) {
    if (!spec.shape.has_rank()) unknown += 256;
    for (const int64_t length : spec.shape.dims()) unknown += length < 0 ? 1 : 0;
  }
  return unknown;
}

inline std::shared_ptr<Trace> TraceTable::Serving(const Signature& signature,
                                                  const CallArgs& call) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(call.key);  // another thread may have traced it meanwhile
  if (found != by_key_.end() && !found->second->IsOutdated()) return found->second;
  // A spec asks for a trace of its own, unless traces are to be few.
  const bool may_be_general = !call.has_specs || relax_ || !input_signature_.empty();
  std::shared_ptr<Trace> best;
  for (const std::shared_ptr<Trace>& trace : traces_) {
    const Signature& other = trace->signature;
    bool serves = !trace->IsOutdated() && other.constants == signature.constants &&
                  other.tensors.size() == signature.tensors.size();
    for (size_t i = 0; serves && i < signature.tensors.size(); ++i) {
      const ArgSpec& has = other.tensors[i];
      const ArgSpec& given = signature.tensors[i];
      serves = has.dtype == given.dtype && has.device == given.device &&
               (given.name.empty() || has.name == given.name) &&
               (has.HasHandleDataOf(given) || (may_be_general && has.handle_data == nullptr)) &&
               (has.shape == given.shape || (may_be_general && has.shape.Admits(given.shape)));
    }
    if (serves && (best == nullptr || Generality(other) < Generality(best->signature)))
      best = trace;
  }
  if (best == nullptr) return nullptr;
  by_key_[call.key] = best;
  last_key_ = call.key;
  return last_ = best;
}

// How the parts of the arguments differ, "argument 1 changed from 2 to 3"; empty if they do not.
inline std::string ChangedParts(const std::vector<ArgPart>& before,
                                const std::vector<ArgPart>& after) {
  // The parts of an argument stand together.
  const auto count = [](const std::vector<ArgPart>& parts, size_t argument) {
    size_t count = 0;
    for (const ArgPart& part : parts) count += part.argument == argument ? 1 : 0;
    return count;
  };
  std::string text;
  size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    const size_t argument = std::min(i < before.size() ? before[i].argument : ~size_t{0},
                                     j < after.size() ? after[j].argument : ~size_t{0});
    const size_t was = count(before, argument), is = count(after, argument);
    for (size_t k = 0; k < std::max(was, is); ++k) {
      if (k < was && k < is && before[i + k] == after[j + k]) continue;
      const auto words = [k, &text](const std::vector<ArgPart>& parts, size_t begin, size_t size,
                                    bool with_type) {
        text += k < size ? parts[begin + k].value : "nothing";
        if (k < size && with_type) text += std::string(" (") + parts[begin + k].type + ")";
      };
      const bool is_type = k < was && k < is && before[i + k].value == after[j + k].value;
      text += text.empty() ? "" : "; ";
      if (was > 1 || is > 1) text += "part " + std::to_string(k) + " of ";
      text += "argument " + std::to_string(argument) + " changed from ";
      words(before, i, was, is_type);
      text += " to ";
      words(after, j, is, is_type);
      if (was != is) break;  // what follows need not be the same parts
    }
    i += was;
    j += is;
  }
  return text;
}

inline std::string TraceTable::Why(const Signature& signature) const {
  const std::lock_guard lock(mutex_);
  if (traces_.empty()) return "the first call";
  const Signature& before = traces_.back()->signature;
  std::string text;
  if (before.constants != signature.constants) {
    text = ChangedParts(before.parts, signature.parts);
    if (text.empty()) text = "the C++ type of an argument, or a variable of the same name, changed";
  }
  if (before.tensors.size() != signature.tensors.size())
    return text + (text.empty() ? "" : "; ") + "the number of tensors changed from " +
           std::to_string(before.tensors.size()) + " to " +
           std::to_string(signature.tensors.size());
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    const ArgSpec& was = before.tensors[i];
    const ArgSpec& is = signature.tensors[i];
    std::string what;
    if (was.dtype != is.dtype) {
      what = "type";
    } else if (was.shape.rank() != is.shape.rank()) {
      what = "rank";
    } else if (!(was.shape == is.shape)) {
      what = "shape";
    } else if (was.device != is.device) {
      what = "device";
    } else if (!was.HasHandleDataOf(is)) {
      if (!text.empty()) text += "; ";
      text += "the type or shape of what tensor " + std::to_string(i) + " is a handle of changed";
      continue;
    } else if (!is.name.empty() && was.name != is.name) {
      if (!text.empty()) text += "; ";
      text += "tensor " + std::to_string(i) + " is to be named \"" + is.name + "\"";
      continue;
    } else {
      continue;
    }
    if (!text.empty()) text += "; ";
    text += "the " + what + " of tensor " + std::to_string(i) + " changed from " + Describe(was) +
            " to " + Describe(is);
  }
  return text.empty() ? "a tape watches a value that was a constant of the trace" : text;
}

inline void TraceTable::Relax(Signature& signature) const {
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Trace>& trace : traces_) {
    const Signature& other = trace->signature;
    if (other.constants != signature.constants || other.tensors.size() != signature.tensors.size())
      continue;
    bool alike = true;
    for (size_t i = 0; i < signature.tensors.size(); ++i) {
      const ArgSpec& a = other.tensors[i];
      const ArgSpec& b = signature.tensors[i];
      alike = alike && a.dtype == b.dtype && a.device == b.device;
    }
    if (!alike) continue;
    for (size_t i = 0; i < signature.tensors.size(); ++i) {
      ArgSpec& spec = signature.tensors[i];
      spec.shape = Common(spec.shape, other.tensors[i].shape);
      if (!spec.HasHandleDataOf(other.tensors[i])) spec.handle_data = nullptr;
    }
  }
}

inline void TraceTable::Warn(const Trace& trace) {
  warned_ = true;
  std::fprintf(stderr,
               "tenon: the function \"%s\" (%s) was traced %zu times; the last time because %s. "
               "Tracing is slow: pass tensors in the place of C++ numbers, or give an "
               "input_signature or reduce_retracing.\n",
               name_.c_str(), ToString(where_).c_str(), traces_.size(), trace.why.c_str());
}

inline void TraceTable::NoteTrace(Trace& trace) const {
  TraceNote& note = trace.function->note;
  note.function = name_ + ", trace " + std::to_string(traces_.size() + 1);
  note.why = trace.why;
  for (const ArgSpec& spec : trace.signature.tensors) note.takes.push_back(Describe(spec));
}

inline std::string TraceTable::Report() const {
  const std::lock_guard lock(mutex_);
  std::string text = "function " + name_ + ": " + std::to_string(traces_.size()) +
                     (traces_.size() == 1 ? " trace\n" : " traces\n");
  int number = 0;
  for (const std::shared_ptr<Trace>& trace : traces_) {
    text += "trace " + std::to_string(++number) + " (" + trace->function->name() + "): because " +
            trace->why + "\n" + FactLines(FactsOf(*trace->function));
  }
  return text;
}

}  // namespace tenon::inline v0::internal
