// Every function of the API with null pointers, and with numbers that stand for nothing: it says so
// or does nothing, and returns.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/abi/headers.inc"

namespace {

// Something to pass for each type of parameter. It is made anew for each call, as the function may
// end it, and goes with the process.
class Objects {
 public:
  // `number` stands for all numbers with a sign, which are indices and lengths, and `enumerator`
  // for all enumerators.
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
      // The memory that is passed has no end that a function could know, so the size is small.
      if constexpr (std::is_integral_v<T>) return static_cast<T>(std::is_signed_v<T> ? number_ : 1);
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

template <size_t kLeftOut, typename R, typename... Parameters, size_t... kIndex>
void CallWithout(R (*function)(Parameters...), std::index_sequence<kIndex...>) {
  using Left = std::tuple_element_t<kLeftOut, std::tuple<Parameters...>>;
  if constexpr (std::is_pointer_v<Left>) {
    for (const int number : {0, 1}) {
      Objects* const objects = new Objects(number, 1);
      function((kIndex == kLeftOut ? Nothing<Parameters>() : objects->Of<Parameters>())...);
    }
  }
}

template <typename R, typename... Parameters, size_t... kIndex>
void CallWithoutEach(R (*function)(Parameters...), std::index_sequence<kIndex...> all) {
  (CallWithout<kIndex>(function, all), ...);
}

template <typename R, typename... Parameters>
void CallWithoutOne(R (*function)(Parameters...)) {
  CallWithoutEach(function, std::index_sequence_for<Parameters...>());
}

template <typename R, typename... Parameters>
void CallWithStrangeNumbers(R (*function)(Parameters...)) {
  constexpr std::pair<int, int> kStrange[] = {{-1, -1}, {INT32_MIN, 77}, {-1, 101}, {-1, 1000}};
  for (const auto& [number, enumerator] : kStrange) {
    Objects* const objects = new Objects(number, enumerator);
    function(objects->Of<Parameters>()...);
  }
}

// Functions like printf.
template <typename R, typename... Parameters>
void CallWithNothing(R (*function)(Parameters..., ...)) {
  function(Nothing<Parameters>()...);
}
template <typename R, typename... Parameters>
void CallWithoutOne(R (*)(Parameters..., ...)) {}
template <typename R, typename... Parameters>
void CallWithStrangeNumbers(R (*)(Parameters..., ...)) {}

// Says which function is called: after a crash the last one is the culprit.
void Name(const char* name) { fprintf(stderr, "%s\n", name); }

// Not those that take a handle of the system's, or end what is no object.
bool TakesObjects(std::string_view name) {
  return name != "TF_GetSymbolFromLibrary" && name != "TF_DeletePRunHandle";
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

void CallAllWithStrangeNumbers() {
#define F(name) \
  if (TakesObjects(#name)) Name(#name), CallWithStrangeNumbers(&name);
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

TEST_F(HostileArgumentsDeathTest, EveryFunctionTakesStrangeNumbers) {
  EXPECT_EXIT(
      {
        CallAllWithStrangeNumbers();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
