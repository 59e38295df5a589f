// Every function of the API with null pointers, with deleted objects, and with numbers that stand
// for nothing: it says so or does nothing, and returns.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/abi/headers.inc"

namespace {

void Delete(TFE_ContextOptions* object, TF_Status*) { TFE_DeleteContextOptions(object); }
void Delete(TFE_Op* object, TF_Status*) { TFE_DeleteOp(object); }
void Delete(TFE_TensorHandle* object, TF_Status*) { TFE_DeleteTensorHandle(object); }
void Delete(TFE_TensorDebugInfo* object, TF_Status*) { TFE_DeleteTensorDebugInfo(object); }
void Delete(TFE_CancellationManager* object, TF_Status*) { TFE_DeleteCancellationManager(object); }
void Delete(TFE_Executor* object, TF_Status*) { TFE_DeleteExecutor(object); }
void Delete(TF_OperationDescription* object, TF_Status* status) {
  TF_FinishOperation(object, status);
}
void Delete(TF_Function* object, TF_Status*) { TF_DeleteFunction(object); }
void Delete(TF_ImportGraphDefOptions* object, TF_Status*) {
  TF_DeleteImportGraphDefOptions(object);
}
void Delete(TF_ImportGraphDefResults* object, TF_Status*) {
  TF_DeleteImportGraphDefResults(object);
}
void Delete(TF_SessionOptions* object, TF_Status*) { TF_DeleteSessionOptions(object); }
void Delete(TF_Session* object, TF_Status* status) { TF_DeleteSession(object, status); }
void Delete(TF_DeprecatedSession* object, TF_Status* status) {
  TF_DeleteDeprecatedSession(object, status);
}
void Delete(TF_DeviceList* object, TF_Status*) { TF_DeleteDeviceList(object); }
void Delete(TF_ApiDefMap* object, TF_Status*) { TF_DeleteApiDefMap(object); }
void Delete(TF_AttrBuilder* object, TF_Status*) { TF_DeleteAttrBuilder(object); }
void Delete(TF_CheckpointReader* object, TF_Status*) { TF_DeleteCheckpointReader(object); }
void Delete(TF_Tensor* object, TF_Status*) { TF_DeleteTensor(object); }
void Delete(TF_Buffer* object, TF_Status*) { TF_DeleteBuffer(object); }
void Delete(TF_ShapeHandle* object, TF_Status*) { TF_DeleteShapeHandle(object); }
void Delete(TF_DimensionHandle* object, TF_Status*) { TF_DeleteDimensionHandle(object); }
void Delete(TF_ExecutionContext* object, TF_Status*) { TF_DeleteExecutionContext(object); }
void Delete(TF_AbstractOp* object, TF_Status*) { TF_DeleteAbstractOp(object); }
void Delete(TF_AbstractTensor* object, TF_Status*) { TF_DeleteAbstractTensor(object); }
void Delete(TF_AbstractFunction* object, TF_Status*) { TF_DeleteAbstractFunction(object); }
void Delete(TF_OutputList* object, TF_Status*) { TF_DeleteOutputList(object); }
void Delete(TFE_MonitoringBuckets* object, TF_Status*) { TFE_MonitoringDeleteBuckets(object); }
void Delete(TFE_MonitoringCounter1* object, TF_Status*) { TFE_MonitoringDeleteCounter1(object); }
void Delete(TFE_MonitoringSampler0* object, TF_Status*) { TFE_MonitoringDeleteSampler0(object); }

// Something to pass for each type of parameter. It is made anew for each call, as the function may
// end it, and goes with the process.
class Objects {
 public:
  // `number` stands for all numbers with a sign, which are indices and lengths, and `enumerator`
  // for all enumerators. With INT32_MAX, sizes in bytes are the largest that there are.
  Objects(int number, int enumerator)
      : number_(number), enumerator_(enumerator), status_(TF_NewStatus()) {
    TFE_ContextOptions* const options = TFE_NewContextOptions();
    context_ = TFE_NewContext(options, status_);
    graph_ = TF_NewGraph();
    TF_OperationDescription* const description = TF_NewOperation(graph_, "Placeholder", "x");
    TF_SetAttrType(description, "dtype", TF_FLOAT);
    operation_ = TF_FinishOperation(description, status_);
  }

  // Null for types of which a program can make no object.
  template <typename T>
  T Of() {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_reference_v<T>) {
      return *Of<std::remove_cv_t<std::remove_reference_t<T>>*>();
    } else if constexpr (!std::is_pointer_v<T>) {
      if constexpr (std::is_same_v<T, TF_Output>) return {operation_, 0};
      // The memory that is passed has no end that a function could know, so the size is small, or
      // so large that no memory has it.
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(std::is_signed_v<T> ? number_ : number_ == INT32_MAX ? SIZE_MAX : 1);
      if constexpr (std::is_enum_v<T>) return static_cast<T>(enumerator_);
      return {};
    } else if constexpr (std::is_function_v<Pointee>) {
      return nullptr;
    } else if constexpr (std::is_same_v<Pointee, char>) {
      if constexpr (std::is_const_v<std::remove_pointer_t<T>>) return "/nowhere/x";
      return reinterpret_cast<T>(room_);
    } else if constexpr (std::is_same_v<Pointee, TF_Status>) {
      return status_;
    } else if constexpr (std::is_same_v<Pointee, TFE_Context>) {
      return context_;
    } else if constexpr (std::is_same_v<Pointee, TFE_ContextOptions>) {
      return TFE_NewContextOptions();
    } else if constexpr (std::is_same_v<Pointee, TFE_Op>) {
      return TFE_NewOp(context_, "Neg", status_);
    } else if constexpr (std::is_same_v<Pointee, TFE_OpAttrs>) {
      return TFE_OpGetAttrs(TFE_NewOp(context_, "Neg", status_));
    } else if constexpr (std::is_same_v<Pointee, TFE_TensorHandle>) {
      return TFE_NewTensorHandle(Of<TF_Tensor*>(), status_);
    } else if constexpr (std::is_same_v<Pointee, TFE_TensorDebugInfo>) {
      return TFE_TensorHandleTensorDebugInfo(Of<TFE_TensorHandle*>(), status_);
    } else if constexpr (std::is_same_v<Pointee, TFE_CancellationManager>) {
      return TFE_NewCancellationManager();
    } else if constexpr (std::is_same_v<Pointee, TFE_Executor>) {
      return TFE_NewExecutor(false, false, 0);
    } else if constexpr (std::is_same_v<Pointee, TF_Graph>) {
      return graph_;
    } else if constexpr (std::is_same_v<Pointee, TF_Operation>) {
      return operation_;
    } else if constexpr (std::is_same_v<Pointee, TF_OperationDescription>) {
      return TF_NewOperation(graph_, "Identity", "y");
    } else if constexpr (std::is_same_v<Pointee, TF_Output>) {
      output_ = {operation_, 0};
      return &output_;
    } else if constexpr (std::is_same_v<Pointee, TF_Function>) {
      return TF_GraphToFunction(graph_, "f", 0, 1, &operation_, 0, nullptr, 0, nullptr, nullptr,
                                nullptr, nullptr, status_);
    } else if constexpr (std::is_same_v<Pointee, TF_ImportGraphDefOptions>) {
      return TF_NewImportGraphDefOptions();
    } else if constexpr (std::is_same_v<Pointee, TF_SessionOptions>) {
      return TF_NewSessionOptions();
    } else if constexpr (std::is_same_v<Pointee, TF_Session>) {
      return TF_NewSession(graph_, nullptr, status_);
    } else if constexpr (std::is_same_v<Pointee, TF_DeprecatedSession>) {
      return TF_NewDeprecatedSession(TF_NewSessionOptions(), status_);
    } else if constexpr (std::is_same_v<Pointee, TF_DeviceList>) {
      return TF_SessionListDevices(Of<TF_Session*>(), status_);
    } else if constexpr (std::is_same_v<Pointee, TF_ApiDefMap>) {
      return TF_NewApiDefMap(TF_GetAllOpList(), status_);
    } else if constexpr (std::is_same_v<Pointee, TF_AttrBuilder>) {
      return TF_NewAttrBuilder("MatMul");
    } else if constexpr (std::is_same_v<Pointee, TF_CheckpointReader>) {
      return TF_NewCheckpointReader(
          "tests/golden/saved_models/affine_state/model/variables/variables", status_);
    } else if constexpr (std::is_same_v<Pointee, TF_ShapeAndTypeList>) {
      return TF_NewShapeAndTypeList(2);
    } else if constexpr (std::is_same_v<Pointee, TF_Tensor>) {
      return TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof(float));
    } else if constexpr (std::is_same_v<Pointee, TF_Buffer>) {
      return TF_NewBuffer();
    } else if constexpr (std::is_same_v<Pointee, TF_Shape>) {
      return TF_NewShape();
    } else if constexpr (std::is_same_v<Pointee, TF_OpDefinitionBuilder>) {
      return TF_NewOpDefinitionBuilder("Nulls");
    } else if constexpr (std::is_same_v<Pointee, TF_ShapeHandle>) {
      return TF_NewShapeHandle();
    } else if constexpr (std::is_same_v<Pointee, TF_DimensionHandle>) {
      return TF_NewDimensionHandle();
    } else if constexpr (std::is_same_v<Pointee, TF_ExecutionContext>) {
      return TF_CreateFunction("f", status_);
    } else if constexpr (std::is_same_v<Pointee, TF_AbstractOp>) {
      return TF_NewAbstractOp(Of<TF_ExecutionContext*>());
    } else if constexpr (std::is_same_v<Pointee, TF_AbstractTensor>) {
      return TF_CreateAbstractTensorFromEagerTensor(Of<TFE_TensorHandle*>(), status_);
    } else if constexpr (std::is_same_v<Pointee, TF_OutputList>) {
      return TF_NewOutputList();
    } else if constexpr (std::is_same_v<Pointee, TF_AbstractFunction>) {
      return TF_FinalizeFunction(Of<TF_ExecutionContext*>(), TF_NewOutputList(), status_);
    } else if constexpr (std::is_same_v<Pointee, TF_ImportGraphDefResults>) {
      return TF_GraphImportGraphDefWithResults(graph_, TF_NewBuffer(),
                                               TF_NewImportGraphDefOptions(), status_);
    } else if constexpr (std::is_same_v<Pointee, TFE_MonitoringBuckets>) {
      return TFE_MonitoringNewExponentialBuckets(1, 2, 3);
    } else if constexpr (std::is_same_v<Pointee, TFE_MonitoringCounter1>) {
      return TFE_MonitoringNewCounter1("c", status_, "", "x");
    } else if constexpr (std::is_same_v<Pointee, TFE_MonitoringSampler0>) {
      return TFE_MonitoringNewSampler0("s", Of<TFE_MonitoringBuckets*>(), status_, "");
    } else if constexpr (std::is_same_v<Pointee, TFE_MonitoringCounterCell>) {
      return TFE_MonitoringGetCellCounter1(Of<TFE_MonitoringCounter1*>(), "x");
    } else if constexpr (std::is_same_v<Pointee, TFE_MonitoringSamplerCell>) {
      return TFE_MonitoringGetCellSampler0(Of<TFE_MonitoringSampler0*>());
    } else if constexpr (std::is_same_v<Pointee, TF_TString>) {
      TF_StringInit(&string_);
      return &string_;
    } else if constexpr (std::is_void_v<Pointee> || std::is_arithmetic_v<Pointee> ||
                         std::is_pointer_v<Pointee> || std::is_enum_v<Pointee>) {
      return reinterpret_cast<T>(room_);  // zeros: the pointers of an array are null, too
    } else {
      return nullptr;
    }
  }

  // An object that was made and deleted; null for types of which a program deletes no object.
  template <typename T>
  T Deleted() {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_same_v<Pointee, TF_Status>) {
      TF_Status* const status = TF_NewStatus();
      TF_DeleteStatus(status);
      return status;
    } else if constexpr (std::is_same_v<Pointee, TF_Graph>) {
      TF_Graph* const graph = TF_NewGraph();
      TF_DeleteGraph(graph);
      return graph;
    } else if constexpr (std::is_same_v<Pointee, TF_Operation>) {
      TF_Graph* const graph = TF_NewGraph();
      TF_Operation* const operation =
          TF_FinishOperation(TF_NewOperation(graph, "NoOp", "x"), status_);
      TF_DeleteGraph(graph);
      return operation;
    } else if constexpr (std::is_same_v<Pointee, TFE_Context>) {
      TFE_Context* const context = TFE_NewContext(TFE_NewContextOptions(), status_);
      TFE_DeleteContext(context);
      return context;
    } else if constexpr (std::is_same_v<Pointee, TFE_OpAttrs>) {
      TFE_Op* const op = Of<TFE_Op*>();
      const TFE_OpAttrs* const attrs = TFE_OpGetAttrs(op);
      TFE_DeleteOp(op);
      return attrs;
    } else if constexpr (std::is_same_v<Pointee, TFE_MonitoringCounterCell>) {
      TFE_MonitoringCounter1* const counter = Of<TFE_MonitoringCounter1*>();
      TFE_MonitoringCounterCell* const cell = TFE_MonitoringGetCellCounter1(counter, "x");
      TFE_MonitoringDeleteCounter1(counter);
      return cell;
    } else if constexpr (std::is_same_v<Pointee, TFE_MonitoringSamplerCell>) {
      TFE_MonitoringSampler0* const sampler = Of<TFE_MonitoringSampler0*>();
      TFE_MonitoringSamplerCell* const cell = TFE_MonitoringGetCellSampler0(sampler);
      TFE_MonitoringDeleteSampler0(sampler);
      return cell;
    } else if constexpr (requires(Pointee * object) { Delete(object, status_); }) {
      auto* const object = const_cast<Pointee*>(Of<T>());
      Delete(object, status_);
      return object;
    } else {
      return nullptr;
    }
  }

  TF_Status* status() { return status_; }

 private:
  const int number_, enumerator_;
  TF_Status* const status_;
  TFE_Context* context_;
  TF_Graph* graph_;
  TF_Operation* operation_;
  TF_Output output_;
  TF_TString string_;
  alignas(64) char room_[4096] = {};
};

// Zeros; of a reference, an object of zeros.
template <typename T>
T Nothing() {
  static std::remove_cv_t<std::remove_reference_t<T>> nothing;
  return nothing = {};
}

template <typename R, typename... Parameters>
void CallWithNothing(R (*function)(Parameters...)) {
  function(Nothing<Parameters>()...);
}

// The place is no template parameter: one instance for each type of function is enough to compile.
template <typename R, typename... Parameters, size_t... kIndex>
void CallWithoutEach(R (*function)(Parameters...), std::index_sequence<kIndex...>) {
  constexpr std::array<bool, sizeof...(Parameters)> kIsPointer = {std::is_pointer_v<Parameters>...};
  for (size_t left_out = 0; left_out < kIsPointer.size(); ++left_out) {
    if (!kIsPointer[left_out]) continue;
    for (const int number : {0, 1}) {
      [[maybe_unused]] Objects* const objects = new Objects(number, 1);
      function((kIndex == left_out ? Nothing<Parameters>() : objects->Of<Parameters>())...);
    }
  }
}

template <typename R, typename... Parameters>
void CallWithoutOne(R (*function)(Parameters...)) {
  CallWithoutEach(function, std::index_sequence_for<Parameters...>());
}

// An object, or null where a deleted one is to stand.
template <typename T>
T ObjectUnless(bool deleted, Objects* objects) {
  if constexpr (std::is_pointer_v<T>) {
    if (deleted) return nullptr;
  }
  return objects->Of<T>();
}

// Puts a deleted object there. Returns false if a program deletes no object of the type.
template <typename T>
bool PutDeleted(Objects* objects, T& argument) {
  if constexpr (std::is_pointer_v<T>) {
    argument = objects->Deleted<T>();
    return argument != nullptr;
  } else {
    return false;
  }
}

// Calls the function with a deleted object in each place. Where there is a status, it is an error.
template <typename R, typename... Parameters, size_t... kIndex>
void CallWithEachDeleted(const char* name, R (*function)(Parameters...),
                         std::index_sequence<kIndex...>) {
  constexpr std::array<bool, sizeof...(Parameters)> kIsPointer = {std::is_pointer_v<Parameters>...};
  for (size_t deleted = 0; deleted < kIsPointer.size(); ++deleted) {
    if (!kIsPointer[deleted]) continue;
    Objects* const objects = new Objects(0, 1);
    std::tuple<Parameters...> arguments = {ObjectUnless<Parameters>(kIndex == deleted, objects)...};
    // Last: a later object could get the address.
    const bool put =
        ((kIndex == deleted && PutDeleted(objects, std::get<kIndex>(arguments))) || ...);
    if (!put) continue;
    TF_SetStatus(objects->status(), TF_OK, "");
    std::apply(function, arguments);
    const bool has_status = ((kIndex != deleted && std::is_same_v<Parameters, TF_Status*>) || ...);
    if (!has_status || TF_GetCode(objects->status()) != TF_OK) continue;
    fprintf(stderr, "%s says nothing of argument %zu, which was deleted\n", name, deleted);
    _exit(1);
  }
}

template <typename R, typename... Parameters>
void CallWithOneDeleted(const char* name, R (*function)(Parameters...)) {
  CallWithEachDeleted(name, function, std::index_sequence_for<Parameters...>());
}

template <typename R, typename... Parameters>
void CallWithStrangeNumbers(R (*function)(Parameters...)) {
  constexpr std::pair<int, int> kStrange[] = {
      {-1, -1}, {INT32_MIN, 77}, {-1, 101}, {-1, 1000}, {INT32_MAX, 1}};
  for (const auto& [number, enumerator] : kStrange) {
    Objects* const objects = new Objects(number, enumerator);
    function(objects->Of<Parameters>()...);
  }
}

// Calls the function with each of its numbers strange, one at a time, beside arguments that fit.
template <typename R, typename... Parameters, size_t... kIndex>
void CallWithEachStrangeNumber(R (*function)(Parameters...), std::index_sequence<kIndex...>) {
  constexpr std::array<bool, sizeof...(Parameters)> kIsNumber = {std::is_integral_v<Parameters>...};
  for (size_t strange = 0; strange < kIsNumber.size(); ++strange) {
    if (!kIsNumber[strange]) continue;
    for (const int number : {-1, INT32_MIN, INT32_MAX}) {
      [[maybe_unused]] Objects* const objects = new Objects(1, 1);
      [[maybe_unused]] Objects* const others = new Objects(number, 1);
      function((kIndex == strange ? others : objects)->Of<Parameters>()...);
    }
  }
}

template <typename R, typename... Parameters>
void CallWithOneStrangeNumber(R (*function)(Parameters...)) {
  CallWithEachStrangeNumber(function, std::index_sequence_for<Parameters...>());
}

// Functions like printf.
template <typename R, typename... Parameters>
void CallWithNothing(R (*function)(Parameters..., ...)) {
  function(Nothing<Parameters>()...);
}
template <typename R, typename... Parameters>
void CallWithoutOne(R (*)(Parameters..., ...)) {}
template <typename R, typename... Parameters>
void CallWithOneDeleted(const char*, R (*)(Parameters..., ...)) {}
template <typename R, typename... Parameters>
void CallWithStrangeNumbers(R (*)(Parameters..., ...)) {}
template <typename R, typename... Parameters>
void CallWithOneStrangeNumber(R (*)(Parameters..., ...)) {}

// Says which function is called: after a crash the last one is the culprit.
void Name(const char* name) { fprintf(stderr, "%s\n", name); }

// Not those that end what is no object.
bool TakesObjects(std::string_view name) {
  return name != "TF_DeletePRunHandle" && name != "TF_DeleteShapeAndTypeListArray";
}

void CallAllWithNothing() {
#define F(name) Name(#name), CallWithNothing(&name);
#include "tests/abi/functions.inc"
#undef F
}

void CallAllWithoutOne() {
#define F(name) \
  if (TakesObjects(#name)) Name(#name), CallWithoutOne(&name);
#include "tests/abi/functions.inc"
#undef F
}

void CallAllWithOneDeleted() {
#define F(name) \
  if (TakesObjects(#name)) Name(#name), CallWithOneDeleted(#name, &name);
#include "tests/abi/functions.inc"
#undef F
}

void CallAllWithStrangeNumbers() {
#define F(name) \
  if (TakesObjects(#name)) Name(#name), CallWithStrangeNumbers(&name);
#include "tests/abi/functions.inc"
#undef F
}

void CallAllWithOneStrangeNumber() {
#define F(name) \
  if (TakesObjects(#name)) Name(#name), CallWithOneStrangeNumber(&name);
#include "tests/abi/functions.inc"
#undef F
}

class HostileArgumentsDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(HostileArgumentsDeathTest, EveryFunctionTakesNothing) {
  EXPECT_EXIT(
      {
        CallAllWithNothing();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(HostileArgumentsDeathTest, EveryFunctionTakesANullAmongObjects) {
  EXPECT_EXIT(
      {
        CallAllWithoutOne();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(HostileArgumentsDeathTest, EveryFunctionTakesADeletedObjectAmongOthers) {
  EXPECT_EXIT(
      {
        CallAllWithOneDeleted();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(HostileArgumentsDeathTest, EveryFunctionTakesStrangeNumbers) {
  EXPECT_EXIT(
      {
        CallAllWithStrangeNumbers();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(HostileArgumentsDeathTest, EveryFunctionTakesAStrangeNumberAmongObjects) {
  EXPECT_EXIT(
      {
        CallAllWithOneStrangeNumber();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
