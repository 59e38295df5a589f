// Ops that run at once. Used by the library's own headers.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/internal/set_attr.h"
#include "tenon/internal/wire.h"
#include "tenon/op_call.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::inline v0::internal {

// The thread's op object, which each call takes and gives back.
class EagerOp {
 public:
  EagerOp(const OpCall& call, TF_Status* status) : op_(std::exchange(Spare().op, nullptr)) {
    const char* const device = scopes.device == nullptr ? nullptr : scopes.device->c_str();
    if (op_ != nullptr) {
      TFE_OpReset(op_, call.type.c_str(), device, status);
      return;
    }
    op_ = TFE_NewOp(Context(), call.type.c_str(), status);
    if (op_ != nullptr && device != nullptr) TFE_OpSetDevice(op_, device, status);
  }
  EagerOp(const EagerOp&) = delete;
  EagerOp& operator=(const EagerOp&) = delete;
  ~EagerOp() {
    if (op_ == nullptr) return;
    if (failed_ || Spare().op != nullptr) {
      TFE_DeleteOp(op_);
    } else {
      Spare().op = op_;
    }
  }
  TFE_Op* get() const { return op_; }
  // The object is not used again.
  void Fail() { failed_ = true; }

 private:
  struct Slot {
    TFE_Op* op = nullptr;
    ~Slot() {
      if (op != nullptr) TFE_DeleteOp(op);
    }
  };
  static Slot& Spare() { return OfThread<Slot>(); }

  TFE_Op* op_;
  bool failed_ = false;
};

// The C API's functions for attributes of eager ops (SetAttr).
struct EagerAttrs {
  static constexpr auto* kSetBool = &TFE_OpSetAttrBool;
  static constexpr auto* kSetInt = &TFE_OpSetAttrInt;
  static constexpr auto* kSetFloat = &TFE_OpSetAttrFloat;
  static constexpr auto* kSetString = &TFE_OpSetAttrString;
  static constexpr auto* kSetType = &TFE_OpSetAttrType;
  static constexpr auto* kSetTensor = &TFE_OpSetAttrTensor;
  static constexpr auto* kSetFunction = &TFE_OpSetAttrFunctionName;
  static constexpr auto* kSetBools = &TFE_OpSetAttrBoolList;
  static constexpr auto* kSetInts = &TFE_OpSetAttrIntList;
  static constexpr auto* kSetFloats = &TFE_OpSetAttrFloatList;
  static constexpr auto* kSetStrings = &TFE_OpSetAttrStringList;
  static constexpr auto* kSetTypes = &TFE_OpSetAttrTypeList;

  static void SetShape(TFE_Op* op, const char* name, const Shape& shape, TF_Status* status) {
    TFE_OpSetAttrShape(op, name, shape.dims().data(), shape.rank(), status);
  }
  static void SetShapes(TFE_Op* op, const char* name, std::vector<const int64_t*>& dims,
                        const std::vector<int>& ranks, TF_Status* status) {
    TFE_OpSetAttrShapeList(op, name, dims.data(), ranks.data(), static_cast<int>(ranks.size()),
                           status);
  }
  static void SetFunctions(TFE_Op* op, const char* name, const std::vector<FunctionName>& values,
                           TF_Status* status) {
    std::vector<TFE_Op*> functions;
    for (const FunctionName& function : values) {
      functions.push_back(TFE_NewOp(Context(), function.name.c_str(), status));
      if (TF_GetCode(status) != TF_OK) break;
    }
    if (TF_GetCode(status) == TF_OK) {
      TFE_OpSetAttrFunctionList(op, name, const_cast<const TFE_Op**>(functions.data()),
                                static_cast<int>(functions.size()));
    }
    for (TFE_Op* const function : functions) TFE_DeleteOp(function);
  }
};

// The first text between `begin` and `end`; empty if there is none.
inline std::string_view Between(std::string_view text, std::string_view begin,
                                std::string_view end) {
  const size_t from = text.find(begin);
  if (from == std::string_view::npos) return {};
  const size_t to = text.find(end, from + begin.size());
  if (to == std::string_view::npos) return {};
  return text.substr(from + begin.size(), to - from - begin.size());
}

[[noreturn, gnu::cold]] inline void ThrowFromOp(const OpCall& call, TF_Status* status,
                                                std::string node = {}) {
  if (call.function != nullptr) TraceFunctionsInUse().throw_from_function(call, status);
  Throw(Error(TF_GetCode(status), TF_Message(status), call.type, std::move(node), call.where));
}

// Whether ops of this type get seeds from the program's seed (LacksSeeds). As in TensorFlow,
// FractionalMaxPool, SampleDistortedBoundingBox and their kin, which also have the attributes seed
// and seed2, get none.
[[gnu::cold]] inline bool DrawsNumbers(const std::string& type) {
  static constexpr const char* kTypes[] = {"RandomUniform",
                                           "RandomUniformInt",
                                           "RandomStandardNormal",
                                           "ParameterizedTruncatedNormal",
                                           "TruncatedNormal",
                                           "RandomShuffle",
                                           "RandomShuffleQueue",
                                           "RandomShuffleQueueV2",
                                           "Multinomial",
                                           "RandomGamma",
                                           "RandomPoisson",
                                           "RandomPoissonV2",
                                           "UniformCandidateSampler",
                                           "LogUniformCandidateSampler",
                                           "LearnedUnigramCandidateSampler",
                                           "FixedUnigramCandidateSampler",
                                           "AllCandidateSampler"};
  for (const char* const name : kTypes) {
    if (type == name) return true;
  }
  return false;
}

// Whether an op gets its seeds from the program's seed: the program has set one (SetSeed),
// DrawsNumbers is true, and the op names neither seed.
[[gnu::noinline]] inline bool LacksSeeds(const OpCall& call) {
  if (!GetProcess().has_seed.load(std::memory_order_relaxed) || !DrawsNumbers(call.type))
    return false;
  for (const NamedAttr& attr : call.attrs) {
    if (attr.name == "seed" || attr.name == "seed2") return false;
  }
  return true;
}

// Sets both seeds. `number` is that of the op among those of the trace, or of the eager ones.
[[gnu::cold]] inline void AddSeeds(OpCall& call, int64_t number) {
  for (const auto& [name, value] :
       {std::pair<const char*, int64_t>("seed", GetProcess().seed.load()),
        std::pair<const char*, int64_t>("seed2", number)}) {
    NamedAttr& attr = call.attrs.emplace_back();
    attr.name = name;
    attr.number = value;
  }
}
inline void AddEagerSeeds(OpCall& call) {
  if (LacksSeeds(call)) [[unlikely]]
    AddSeeds(call, ++GetProcess().eager_ops_with_seed);
}

// What an op has by way of attributes, in words; empty if the library has no such op.
[[gnu::cold]] inline std::string AttrsInWords(const std::string& type) {
  TF_Buffer* const list = TF_GetAllOpList();
  const std::string bytes(static_cast<const char*>(list->data), list->length);
  TF_DeleteBuffer(list);
  // OpList { op = 1 }, OpDef { name = 1, attr = 4 { name = 1 } }
  for (wire::Reader ops(bytes); ops.Next();) {
    std::string names;
    bool is_wanted = false;
    for (wire::Reader op(ops.bytes); op.Next();) {
      if (op.field == 1 && !(is_wanted = op.bytes == type)) break;
      if (op.field != 4) continue;
      for (wire::Reader attr(op.bytes); attr.Next();) {
        if (attr.field == 1) names += (names.empty() ? "" : ", ") + std::string(attr.bytes);
      }
    }
    if (is_wanted) return names.empty() ? "it has none" : "it has " + names;
  }
  return {};
}

// Whether the library has the op, and the op the attribute.
[[gnu::cold]] inline bool HasAttr(const std::string& type, const std::string& attr) {
  TF_Status* const status = TF_NewStatus();
  unsigned char is_list = 0;
  TFE_OpNameGetAttrType(Context(), type.c_str(), attr.c_str(), &is_list, status);
  const TF_Code code = TF_GetCode(status);
  TF_DeleteStatus(status);
  return code == TF_OK;
}

// Whether the library has the op, and the op no such attribute. Names that begin with '_' are free.
inline bool IsUnknownAttr(const std::string& type, const std::string& attr) {
  if (attr.empty() || attr[0] == '_') return false;
  // What the thread has asked for.
  struct Known {
    struct {
      std::string type, attr;
    } slots[256];
  };
  const std::hash<std::string_view> hash;
  auto& slots = OfThread<Known>().slots;
  auto& slot = slots[(hash(type) + hash(attr)) % std::size(slots)];
  if (slot.type == type && slot.attr == attr) [[likely]]
    return false;
  if (!HasAttr(type, attr)) return !AttrsInWords(type).empty();
  slot = {type, attr};
  return false;
}

[[noreturn, gnu::cold]] inline void ThrowUnknownAttr(const OpCall& call, const std::string& attr) {
  Throw(Error(TF_INVALID_ARGUMENT,
              "The op has no attribute \"" + attr + "\"; " + AttrsInWords(call.type), call.type, {},
              call.where));
}
// INVALID_ARGUMENT for an attribute that the op does not have: the C API ignores it.
inline void CheckAttrs(const OpCall& call) {
  if (call.function != nullptr || call.type.empty()) return;
  for (const NamedAttr& attr : call.attrs) {
    if (IsUnknownAttr(call.type, attr.name)) [[unlikely]]
      ThrowUnknownAttr(call, attr.name);
  }
}

// The handle of an eager value.
inline TFE_TensorHandle* HandleOf(const Tensor& tensor, Where where) {
  TensorRep& rep = tensor.rep(where);
  if (rep.handle == nullptr) [[unlikely]]
    tensor.ThrowSymbolic("an op outside a trace cannot take it", where);
  return rep.handle;
}

// Runs the op. Returns the number of its outputs. `outputs` has room for `max_outputs` handles,
// which the caller then owns. Throws the op's error; INVALID_ARGUMENT if it has more outputs.
inline size_t RunEagerly(const OpCall& call, TFE_TensorHandle** outputs, size_t max_outputs) {
  CheckAttrs(call);
  if (scopes.watch != nullptr) [[unlikely]]
    check_variables.load(std::memory_order_acquire)(*scopes.watch, call);
  TF_Status* const status = ThreadStatus();
  EagerOp op(call, status);
  const auto check = [&] {
    if (TF_GetCode(status) == TF_OK) [[likely]]
      return;
    op.Fail();
    ThrowFromOp(call, status);
  };
  check();
  ForArguments(
      call,
      [&](size_t i) {
        TFE_OpAddInput(op.get(), HandleOf(call.tensors[i], call.where), status);
        check();
      },
      [&](const ListInput& list) {
        std::vector<TFE_TensorHandle*> handles;
        for (size_t i = 0; i < list.count; ++i)
          handles.push_back(HandleOf(call.tensors[list.first + i], call.where));
        TFE_OpAddInputList(op.get(), handles.data(), static_cast<int>(handles.size()), status);
        check();
      });
  for (const NamedAttr& attr : call.attrs) {
    for (const FunctionName& function : attr.functions) {
      if (function.rep != nullptr) TraceFunctionsInUse().register_function(function.rep);
    }
    SetAttr<EagerAttrs>(op.get(), attr, status);
    check();
  }
  int count = static_cast<int>(max_outputs);
  TFE_Execute(op.get(), outputs, &count, status);
  check();
  return static_cast<size_t>(count);
}

inline std::vector<Tensor> RunEagerly(const OpCall& call, size_t max_outputs) {
  TFE_TensorHandle* few[8];
  std::vector<TFE_TensorHandle*> many;
  TFE_TensorHandle** handles = few;
  if (max_outputs > std::size(few)) {
    many.resize(max_outputs);
    handles = many.data();
  }
  const size_t count = RunEagerly(call, handles, max_outputs);
  std::vector<Tensor> outputs;
  outputs.reserve(count);
  for (size_t i = 0; i < count; ++i) outputs.push_back(Tensor::FromHandle(handles[i], call.where));
  return outputs;
}

// A number of outputs that the op does not exceed, unless an attribute says that a list is longer
// than 2^20. Lengths of lists are attributes, the lengths of attributes, or the lengths of input
// lists. One attribute may be the length of three lists, as num_split of SparseSplit is.
inline size_t MaxOutputs(const OpCall& call) {
  size_t lengths = call.tensors.size();
  for (const NamedAttr& attr : call.attrs) {
    if (attr.kind == NamedAttr::Kind::kInt && attr.number > 0 && attr.number <= (int64_t{1} << 20))
      lengths += static_cast<size_t>(attr.number);
    if (attr.kind == NamedAttr::Kind::kTypes) lengths += attr.numbers.size();
  }
  return 64 + 3 * lengths;
}

}  // namespace tenon::inline v0::internal
