// Signatures of calls, and the traces of a function by signature. Used by the library's own
// headers.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/function_rep.h"
#include "tenon/structure.h"
#include "tenon/trace_report.h"
#include "tenon/variable.h"

namespace tenon::inline v0::internal {

// One tensor among the arguments of a call.
struct ArgSpec {
  DType dtype = DType::kInvalid;
  Shape shape;
  int device = 0;    // of DeviceNumber
  std::string name;  // of a TensorSpec
  std::shared_ptr<const std::string> handle_data;
};

// A part of an argument in words: "3", "\"relu\"", "the variable \"w\"", "a tensor", "length 2".
struct ArgPart {
  size_t argument = 0;  // its number among the arguments
  std::string value;
  const char* type = "";  // "int32", of a number
  friend bool operator==(const ArgPart&, const ArgPart&) = default;
};

// What decides which trace serves a call.
struct Signature {
  std::vector<ArgSpec> tensors;
  std::string constants;       // types, lengths, C++ values and variables
  std::vector<ArgPart> parts;  // the same in words, for people
};

// A small number for the name of a device; 0 for the host's CPU and for symbols without one.
inline int DeviceNumber(const char* name) {
  struct Known {
    std::mutex mutex;
    std::vector<std::string> names = {""};
  };
  static Known* const known = new Known;
  const std::string_view text = name == nullptr ? std::string_view() : name;
  if (text.empty() || text.ends_with("/device:CPU:0")) return 0;
  const std::lock_guard lock(known->mutex);
  for (size_t i = 1; i < known->names.size(); ++i) {
    if (known->names[i] == text) return static_cast<int>(i);
  }
  known->names.emplace_back(text);
  return static_cast<int>(known->names.size()) - 1;
}

// The arguments of a call: what is compared first, as bytes, and the tensors.
struct CallArgs {
  std::string key;        // all of the signature
  std::string constants;  // of Signature
  std::vector<Tensor> tensors;
  std::vector<ArgSpec> specs;  // of TensorSpec arguments; else empty, and read when they are needed
  bool has_specs = false;
};

// Appends the bytes of a number.
inline void PutNumber(std::string& key, int64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class ArgReader {
 public:
  ArgReader(CallArgs& call, Where where) : call_(call), where_(where) {}

  void OnTensor(const Tensor& tensor) {
    TensorRep& rep = tensor.rep(where_);
    std::string& key = call_.key;
    call_.constants += 'T';
    key += static_cast<char>(rep.dtype);
    if (rep.handle != nullptr) {
      TF_Status* const status = ThreadStatus();
      const int rank = TFE_TensorHandleNumDims(rep.handle, status);
      Check(status);
      key += static_cast<char>(rank);
      for (int i = 0; i < rank; ++i) PutNumber(key, TFE_TensorHandleDim(rep.handle, i, status));
      key += static_cast<char>(DeviceNumber(TFE_TensorHandleDeviceName(rep.handle, status)));
      Check(status);
    } else {
      PutShape(tensor.shape());
      key += static_cast<char>(DeviceNumber(TF_OperationDevice(rep.output.oper)));
    }
    if (call_.has_specs) AddSpec(tensor);
    call_.tensors.push_back(tensor);
  }
  void OnSpec(const TensorSpec& spec) {
    if (!call_.has_specs) {
      call_.has_specs = true;
      for (const Tensor& tensor : call_.tensors) AddSpec(tensor);
    }
    call_.constants += 'T';
    call_.key += static_cast<char>(spec.dtype());
    PutShape(spec.shape());
    call_.key += '\0';
    PutNumber(call_.key, static_cast<int64_t>(spec.name().size()));
    call_.key += spec.name();
    call_.specs.push_back({spec.dtype(), spec.shape(), 0, spec.name(), nullptr});
    call_.tensors.emplace_back();
  }
  void OnVariable(const Variable& variable) {
    call_.constants += 'V';
    PutNumber(call_.constants, reinterpret_cast<intptr_t>(variable.handle().get()));
  }
  void OnMark(size_t number) { PutNumber(call_.constants, static_cast<int64_t>(number)); }
  void OnConstant(std::string_view bytes) {
    call_.constants += 'C';
    call_.constants += bytes;
  }

 private:
  void PutShape(const Shape& shape) {
    call_.key += static_cast<char>(shape.rank());
    for (const int64_t dim : shape.dims()) PutNumber(call_.key, dim);
  }
  void AddSpec(const Tensor& tensor);

  CallArgs& call_;
  const Where where_;
};

// The spec of a tensor.
inline ArgSpec SpecOf(const Tensor& tensor) {
  ArgSpec spec;
  spec.dtype = tensor.dtype();
  spec.shape = tensor.shape();
  spec.handle_data = tensor.get()->handle_data;
  TF_Status* const status = ThreadStatus();
  spec.device =
      DeviceNumber(tensor.IsSymbolic() ? TF_OperationDevice(tensor.output().oper)
                                       : TFE_TensorHandleDeviceName(tensor.handle(), status));
  return spec;
}
inline void ArgReader::AddSpec(const Tensor& tensor) { call_.specs.push_back(SpecOf(tensor)); }

// Says in words what the arguments are.
class ArgDescriber {
 public:
  std::vector<ArgPart> parts;

  template <typename... Args>
  explicit ArgDescriber(const Args&... args) {
    [[maybe_unused]] const auto add = [this](const auto& argument) {
      Walk(argument, *this);
      ++argument_;
    };
    (add(args), ...);
  }

  void OnTensor(const Tensor&) { Add("a tensor"); }
  void OnSpec(const TensorSpec&) { Add("a tensor"); }
  void OnVariable(const Variable& variable) { Add("the variable \"" + variable.name() + "\""); }
  void OnMark(size_t number) { Add("length " + std::to_string(number)); }
  // The length of a text stands before it, and is no part of its own.
  void OnConstant(std::string_view text) {
    constexpr size_t kMost = 40;
    parts.back().value = '"' + std::string(text.substr(0, kMost)) +
                         (text.size() > kMost ? "\"... of " + std::to_string(text.size()) + " bytes"
                                              : std::string("\""));
  }
  template <typename T>
  void OnPlain(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      OnPlain(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_pointer_v<T>) {
      char text[32];
      std::snprintf(text, sizeof text, "%p", reinterpret_cast<const void*>(value));
      Add(text, "pointer");
    } else if constexpr (std::is_same_v<T, bool>) {
      Add(value ? "true" : "false", "bool");
    } else if constexpr (std::is_floating_point_v<T>) {
      char text[64];
      char* const end = std::to_chars(text, text + sizeof text, value).ptr;
      Add(std::string(text, end), Name(DTypeOf<T>()));
    } else {
      Add(std::to_string(value), Name(DTypeOf<T>()));
    }
  }

 private:
  void Add(std::string value, const char* type = "") {
    parts.push_back({argument_, std::move(value), type});
  }
  size_t argument_ = 0;
};

template <typename... Args>
CallArgs ReadArgs(const void* type, Where where, const Args&... args) {
  CallArgs call;
  PutNumber(call.constants, reinterpret_cast<intptr_t>(type));
  ArgReader reader(call, where);
  (Walk(args, reader), ...);
  call.key += call.constants;
  return call;
}

// An argument as the callable gets it in a trace; a tensor that is still a value.
template <typename T>
TracedArg<T> AsTraced(const T& value) {
  if constexpr (std::is_same_v<T, TensorSpec>) {
    return Tensor();
  } else {
    return value;
  }
}
template <size_t n>
std::string AsTraced(const char (&text)[n]) {
  return text;
}

// Puts a placeholder in the place of each tensor of the arguments.
class MakeInputs {
 public:
  MakeInputs(TraceGraph& graph, const Signature& signature, Where where)
      : graph_(graph), signature_(signature), where_(where) {}
  void OnTensor(Tensor& tensor) {
    const size_t i = next_++;
    const ArgSpec& spec = signature_.tensors[i];
    const std::string name = spec.name.empty() ? "arg_" + std::to_string(i) : spec.name;
    tensor = graph_.AddInput(spec.dtype, spec.shape, name, where_);
    if (spec.handle_data != nullptr) {
      TF_SetHandleShapeAndType(graph_.graph(), tensor.output(), spec.handle_data->data(),
                               spec.handle_data->size(), ThreadStatus());
    }
  }
  void OnSpec(const TensorSpec&) {}
  void OnVariable(const Variable&) {}
  void OnMark(size_t) {}
  void OnConstant(std::string_view) {}

 private:
  TraceGraph& graph_;
  const Signature& signature_;
  const Where where_;
  size_t next_ = 0;
};

// Gathers the tensors of a callable's result as outputs of its graph.
class CollectOutputs {
 public:
  CollectOutputs(TraceGraph& graph, Where where) : graph_(graph), where_(where) {}
  std::vector<TF_Output> outputs;
  // An empty Tensor, such as a gradient that there is not, stays one.
  void OnTensor(Tensor& tensor) {
    if (tensor.defined()) outputs.push_back(graph_.Resolve(tensor, where_));
  }
  void OnSpec(const TensorSpec&) {}
  void OnVariable(const Variable&) {}
  void OnMark(size_t) {}
  void OnConstant(std::string_view) {}

 private:
  TraceGraph& graph_;
  const Where where_;
};

// Puts what a call gave in the place of the symbols of a result.
class ReplaceTensors {
 public:
  explicit ReplaceTensors(const std::vector<Tensor>& tensors) : tensors_(tensors) {}
  void OnTensor(Tensor& tensor) {
    if (tensor.defined()) tensor = tensors_[next_++];
  }
  void OnSpec(const TensorSpec&) {}
  void OnVariable(const Variable&) {}
  void OnMark(size_t) {}
  void OnConstant(std::string_view) {}

 private:
  const std::vector<Tensor>& tensors_;
  size_t next_ = 0;
};

struct Trace {
  std::shared_ptr<FunctionRep> function;
  std::shared_ptr<void> result;  // the callable's result, with symbols; null for void
  Signature signature;
  std::string why;
};

// The traces of one function. Thread-safe.
class TraceTable {
 public:
  void Configure(std::string name, std::vector<TensorSpec> signature, bool relax, Where where) {
    name_ = std::move(name);
    input_signature_ = std::move(signature);
    relax_ = relax;
    where_ = where;
  }

  // The trace for a call, which `make(signature)` makes if there is none. `describe()` gives the
  // arguments in words.
  template <typename Make, typename Describe>
  std::shared_ptr<Trace> Find(CallArgs& call, const Make& make, const Describe& describe) {
    {
      const std::lock_guard lock(mutex_);
      if (last_ != nullptr && last_key_ == call.key) return last_;
      const auto found = by_key_.find(call.key);
      if (found != by_key_.end()) {
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

  template <typename Make, typename Describe>
  std::shared_ptr<Trace> FindSlowly(CallArgs& call, const Make& make, const Describe& describe) {
    const std::lock_guard tracing(TraceMutex());
    Signature signature = SignatureOf(call);
    if (std::shared_ptr<Trace> trace = Serving(signature, call)) return trace;
    signature.parts = describe();
    int depth = 0;
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
    std::string why = Why(signature);
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
    const std::lock_guard lock(mutex_);
    NoteTrace(*trace);
    traces_.push_back(trace);
    by_key_.emplace(call.key, trace);
    if (traces_.size() == 5 || (traces_.size() > 5 && !warned_)) Warn(*trace);
    last_key_ = call.key;
    return last_ = trace;
  }

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

// The shape of a tensor argument in words: "float32(2, 3)".
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
  if (found != by_key_.end()) return found->second;
  // A spec asks for a trace of its own, unless traces are to be few.
  const bool may_be_general = !call.has_specs || relax_ || !input_signature_.empty();
  std::shared_ptr<Trace> best;
  for (const std::shared_ptr<Trace>& trace : traces_) {
    const Signature& other = trace->signature;
    bool serves =
        other.constants == signature.constants && other.tensors.size() == signature.tensors.size();
    for (size_t i = 0; serves && i < signature.tensors.size(); ++i) {
      const ArgSpec& has = other.tensors[i];
      const ArgSpec& given = signature.tensors[i];
      serves = has.dtype == given.dtype && has.device == given.device &&
               (given.name.empty() || has.name == given.name) &&
               (has.shape == given.shape || (may_be_general && has.shape.Admits(given.shape)));
    }
    if (serves && (best == nullptr || Generality(other) < Generality(best->signature)))
      best = trace;
  }
  if (best == nullptr) return nullptr;
  by_key_.emplace(call.key, best);
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
  return text;
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
    for (size_t i = 0; i < signature.tensors.size(); ++i)
      signature.tensors[i].shape = Common(signature.tensors[i].shape, other.tensors[i].shape);
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
