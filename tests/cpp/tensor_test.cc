// Tensors, operators and parts of tensors of the C++ library, run eagerly.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"

namespace tenon {
namespace {

TEST(CppTensor, IsMadeOfScalarsAndNestedLists) {
  EXPECT_EQ(Tensor(2.5f).item<float>(), 2.5f);
  EXPECT_EQ(Tensor(7).dtype(), DType::kInt32);
  EXPECT_EQ(Tensor(int64_t{7}).dtype(), DType::kInt64);
  EXPECT_EQ(Tensor(true).dtype(), DType::kBool);
  EXPECT_EQ(Tensor("text").item<std::string>(), "text");
  const Tensor matrix = Tensor::Of<float>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
  EXPECT_EQ(Floats(matrix), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Tensor::Of<int64_t>({{{{1}, {2}}}}).shape(), (Shape{1, 1, 2, 1}));
  EXPECT_EQ(Tensor::Of<std::string>({"a", "b"}).ToVector<std::string>(),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Tensor::Of<bool>({true, false}).dtype(), DType::kBool);
}

TEST(CppTensor, RefusesListsOfOtherLengths) {
  EXPECT_THROW(Tensor::Of<float>({{1, 2}, {3, 4, 5}}), Error);
  EXPECT_THROW(Tensor::Of<float>(Shape{3}, {1, 2}), Error);
}

TEST(CppShape, CountsNoMoreElementsThanANumberHolds) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLong = int64_t{1} << 40;
  EXPECT_EQ((Shape{kLong, kLong}.num_elements()), kMost);
  EXPECT_EQ((Shape{kLong, kLong, 0}.num_elements()), 0);
  EXPECT_EQ((Shape{kMost, 1}.num_elements()), kMost);
  EXPECT_EQ((Shape{kLong, 1 << 22}.num_elements()), int64_t{1} << 62);
  EXPECT_THROW(Tensor::Of<float>(Shape{kLong, kLong}, std::vector<float>{}), Error);
}

TEST(CppTensor, ViewsMemoryAndReleasesItOnce) {
  alignas(64) float memory[4] = {1, 2, 3, 4};
  auto released = std::make_shared<int>(0);
  {
    const Tensor view =
        Tensor::View(memory, DType::kFloat, Shape{2, 2}, [released] { ++*released; });
    EXPECT_EQ(view.data<float>().data(), memory);
    EXPECT_EQ(Floats(view + 1), (std::vector<float>{2, 3, 4, 5}));
    EXPECT_EQ(*released, 0);
  }
  EXPECT_EQ(*released, 1);
}

TEST(CppTensor, ViewsPlainMemoryOnly) {
  float memory[2] = {1, 2};
  int released = 0;
  const auto release = [&] { ++released; };
  EXPECT_THROW(Tensor::View(memory, DType::kString, Shape{2}, release), Error);
  EXPECT_THROW(Tensor::View(memory, DType::kResource, Shape{2}, release), Error);
  EXPECT_THROW(Tensor::View(nullptr, DType::kFloat, Shape{2}, release), Error);
  EXPECT_EQ(Tensor::View(nullptr, DType::kFloat, Shape{0, 2}, release).shape(), (Shape{0, 2}));
  EXPECT_EQ(released, 4);
}

TEST(CppTensor, SaysWhatIsWrong) {
  const Tensor vector = Tensor::Of<float>({1, 2});
  try {
    vector.data<int32_t>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT);
    EXPECT_NE(error.where().find("tensor_test.cc:"), std::string::npos);
  }
  EXPECT_THROW(vector.item<float>(), Error);
  EXPECT_THROW(Tensor().dtype(), Error);
  const int line = __LINE__ + 2;
  try {
    vector + Tensor::Of<float>({1, 2, 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "AddV2");
    EXPECT_EQ(error.where(), "tensor_test.cc:" + std::to_string(line));
    EXPECT_NE(std::string(error.what()).find("AddV2 at tensor_test.cc:" + std::to_string(line)),
              std::string::npos);
  }
}

TEST(CppOperators, BroadcastAndTakeTheTypeOfTheTensor) {
  const Tensor matrix = Tensor::Of<float>({{1, 2}, {3, 4}});
  EXPECT_EQ(Floats(matrix + Tensor::Of<float>({10, 20})), (std::vector<float>{11, 22, 13, 24}));
  EXPECT_EQ(Floats(2 * matrix - 1), (std::vector<float>{1, 3, 5, 7}));
  EXPECT_EQ(Floats(1 / matrix)[1], 0.5f);
  EXPECT_EQ(Floats(-matrix)[3], -4);
  const Tensor integers = Tensor::Of<int32_t>({-7, 7});
  EXPECT_EQ((integers / 2).ToVector<int32_t>(), (std::vector<int32_t>{-4, 3}));
  EXPECT_EQ((integers % 3).ToVector<int32_t>(), (std::vector<int32_t>{2, 1}));
  EXPECT_TRUE(bool((integers == 7)[1]));
  EXPECT_FALSE(bool(((integers < 0) && (integers > 100))[0]));
  Tensor sum = matrix;
  sum += 1;
  sum *= sum;
  EXPECT_EQ(Floats(sum), (std::vector<float>{4, 9, 16, 25}));
  EXPECT_THROW(integers + 1.5, Error);
  EXPECT_THROW(Tensor::Of<uint8_t>({1}) + 256, Error);
}

// The least and the greatest number of each integer type, and one beyond.
TEST(CppOperators, TakeNumbersThatTheTypeOfTheTensorHolds) {
  const auto limits = []<typename T>(T) {
    const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const Tensor zero = T{0};
    EXPECT_EQ((zero + least).template item<T>(), least);
    EXPECT_EQ((most + zero).template item<T>(), most);
    EXPECT_EQ((zero + most).dtype(), zero.dtype());
    if constexpr (sizeof(T) < 8) {
      EXPECT_THROW(zero + (int64_t{least} - 1), Error);
      EXPECT_THROW(zero + (int64_t{most} + 1), Error);
    } else if constexpr (std::is_signed_v<T>) {
      EXPECT_THROW(zero + (uint64_t{1} << 63), Error);
    } else {
      EXPECT_THROW(zero + int64_t{-1}, Error);
    }
    EXPECT_THROW(zero + 0.5, Error);
  };
  limits(int8_t{});
  limits(int16_t{});
  limits(int32_t{});
  limits(int64_t{});
  limits(uint8_t{});
  limits(uint16_t{});
  limits(uint32_t{});
  limits(uint64_t{});
}

TEST(CppOperators, TakePartsAsNumPy) {
  const Tensor cube = Tensor::Of<float>({{{0, 1}, {2, 3}, {4, 5}}, {{6, 7}, {8, 9}, {10, 11}}});
  EXPECT_EQ(Floats(cube[1][0]), (std::vector<float>{6, 7}));
  EXPECT_EQ(Floats(cube[-1][-1]), (std::vector<float>{10, 11}));
  EXPECT_EQ(Floats((cube[{All, Slice(0, 2), 1}])), (std::vector<float>{1, 3, 7, 9}));
  EXPECT_EQ((cube[{Ellipsis, NewAxis}].shape()), (Shape{2, 3, 2, 1}));
  EXPECT_EQ(Floats((cube[{0, Slice({}, {}, -1), 0}])), (std::vector<float>{4, 2, 0}));
  EXPECT_EQ(Floats((cube[{0, Slice(1, {}), 0}])), (std::vector<float>{2, 4}));
  EXPECT_THROW(cube[2], Error);
  EXPECT_THROW(cube[std::numeric_limits<int64_t>::max()], Error);
}

// The place of the error that `call` throws; "" if it throws none.
template <typename Call>
std::string PlaceOfError(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.where();
  }
  return {};
}

TEST(CppOperators, SayWhereTheyWereUsed) {
  const auto here = [](int line) { return "tensor_test.cc:" + std::to_string(line); };
  const Tensor x = Tensor::Of<float>({1, 2}), empty;
  EXPECT_EQ(PlaceOfError([&] { x[2]; }), here(__LINE__));
  EXPECT_EQ(PlaceOfError([&] { x[{All, 0}]; }), here(__LINE__));
  EXPECT_EQ(PlaceOfError([&] { x[{Slice(0, 1), NewAxis, 1}]; }), here(__LINE__));
  EXPECT_EQ(PlaceOfError([&] { empty + 1; }), here(__LINE__));
  EXPECT_EQ(PlaceOfError([&] { 1 - empty; }), here(__LINE__));
  EXPECT_EQ(PlaceOfError([&] { x* empty; }), here(__LINE__));
  EXPECT_EQ(PlaceOfError([&] { empty.item<float>(); }), here(__LINE__));
  Function function([&](Tensor t) { return t * empty; });
  const int line = __LINE__ - 1;
  EXPECT_EQ(PlaceOfError([&] { function(x); }), here(line));
  const ConcreteFunction whole = Function([](Tensor t) { return t; }).Concrete(x);
  EXPECT_EQ(PlaceOfError([&] { whole.Save("/nowhere/at/all.pb"); }), here(__LINE__));
}

TEST(CppOperators, JoinAndCompareTexts) {
  const Tensor a = "a";
  EXPECT_EQ((a + Tensor("b")).item<std::string>(), "ab");
  EXPECT_EQ(("x" + a + std::string("y")).item<std::string>(), "xay");
  EXPECT_TRUE((a == "a").item<bool>());
  EXPECT_TRUE((a != std::string("b")).item<bool>());
}

TEST(CppTensor, ElementsKeepATemporary) {
  const Tensor x = Tensor::Of<float>({1, 2, 3});
  float sum = 0;
  for (const float element : (x * 2).data<float>()) sum += element;
  EXPECT_EQ(sum, 12);
  const auto elements = ops::Cast(x + 1, DType::kDouble).data<double>();
  EXPECT_EQ(std::vector<double>(elements.begin(), elements.end()), (std::vector<double>{2, 3, 4}));
  EXPECT_THROW((x + 1).data<int32_t>(), Error);
}

TEST(CppOperators, TakePartsAtNumbersThatAreTensors) {
  const Tensor x = Tensor::Of<float>({{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(Floats(x[Tensor(1)]), (std::vector<float>{3, 4}));
  EXPECT_EQ(Floats(x[{Slice(0, 2), Tensor(int64_t{-1})}]), (std::vector<float>{2, 4}));
  EXPECT_THROW(x[Tensor(3)], Error);
  EXPECT_THROW(x[Tensor(1.f)], Error);
  EXPECT_THROW(x[Tensor()], Error);
  const Tensor one = 1, minus = int64_t{-1};
  EXPECT_EQ(Floats(x[Slice(one, one + 2)]), (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(Floats(x[{Slice(one, {}), Slice(std::nullopt, minus)}]), (std::vector<float>{3, 5}));
  EXPECT_EQ(Floats(x[{Slice(minus, 0, -1), one}]), (std::vector<float>{6, 4}));
  EXPECT_EQ(Floats(x[{Slice(1U, 2LL), Slice(size_t{1}, std::nullopt)}]), (std::vector<float>{4}));
  EXPECT_THROW(x[Slice(Tensor(0.f), 1)], Error);
  Function part([](Tensor x, Tensor i) { return x[{i, 0}]; });
  EXPECT_EQ(part(x, Tensor(2)).item<float>(), 5);
  EXPECT_EQ(part(x, Tensor(-3)).item<float>(), 1);
  EXPECT_EQ(part.trace_count(), 1);
  Function range([](Tensor x, Tensor i) { return x[{Slice(i, i + 2), 0}]; });
  EXPECT_EQ(Floats(range(x, 0)), (std::vector<float>{1, 3}));
  EXPECT_EQ(Floats(range(x, Tensor(1))), (std::vector<float>{3, 5}));
  GradientTape tape;
  tape.Watch(x);
  EXPECT_EQ(Floats(tape.Gradient(part(x, Tensor(1)), {x})[0]),
            (std::vector<float>{0, 0, 1, 0, 0, 0}));
}

TEST(CppOp, TakesListsAndGivesSeveralOutputs) {
  const Tensor a = Tensor::Of<float>({1, 2});
  const Tensor both = Op("ConcatV2").Input(std::vector<Tensor>{a, a}).Input(Tensor(0)).RunOne();
  EXPECT_EQ(Floats(both), (std::vector<float>{1, 2, 1, 2}));
  const std::vector<Tensor> parts =
      Op("Split").Input(Tensor(0)).Input(both).Attr("num_split", 4).Run();
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(Floats(parts[3]), (std::vector<float>{2}));
  EXPECT_THROW(Op("Split").Input(Tensor(0)).Input(both).Attr("num_split", 2).RunOne(), Error);
  EXPECT_THROW(Op("NoSuchOp").Run(), Error);
}

TEST(CppOp, DrawsTheSameNumbersAfterTheSameSeed) {
  const auto draw = [] {
    return Floats(
        Op("RandomUniform").Input(Tensor::Of<int32_t>({3})).Attr("dtype", DType::kFloat).RunOne());
  };
  SetSeed(1);
  const std::vector<float> first = draw(), second = draw();
  EXPECT_NE(first, second);
  SetSeed(1);
  EXPECT_EQ(draw(), first);
  EXPECT_EQ(draw(), second);
}

TEST(CppOp, SeedsGoToOpsThatDrawAlone) {
  const auto sample = [] {
    const std::vector<Tensor> results = Op("LogUniformCandidateSampler")
                                            .Input(Tensor::Of<int64_t>({{1, 2}}))
                                            .Attr("num_true", 2)
                                            .Attr("num_sampled", 20)
                                            .Attr("unique", false)
                                            .Attr("range_max", 1000)
                                            .Run();
    const auto ids = results[0].data<int64_t>();
    return std::vector<int64_t>(ids.begin(), ids.end());
  };
  SetSeed(1);
  const std::vector<int64_t> first = sample();
  EXPECT_NE(first, sample());
  SetSeed(1);
  EXPECT_EQ(first, sample());
  const Tensor one = Tensor::Of<float>({1});
  EXPECT_EQ(Op("RandomGammaGrad").Input(one).Input(one).RunOne().shape(), Shape({1}));
}

TEST(CppTensor, AnEmptyListHasAllRanks) {
  using Rows = std::initializer_list<std::initializer_list<float>>;
  EXPECT_EQ(Tensor::Of<float>(Rows{}).shape(), Shape({0, 0}));
  EXPECT_EQ(Tensor::Of<float>(std::initializer_list<Rows>{}).shape(), Shape({0, 0, 0}));
  EXPECT_EQ(Tensor::Of<float>(std::initializer_list<Rows>{Rows{}}).shape(), Shape({1, 0, 0}));
}

TEST(CppVariable, KeepsTypeAndShape) {
  Variable v(Tensor::Of<float>({1, 2}), {.name = "v"});
  v.AssignAdd(Tensor::Of<float>({10, 10}));
  EXPECT_EQ(Floats(v), (std::vector<float>{11, 12}));
  EXPECT_EQ(Floats(v * 2), (std::vector<float>{22, 24}));
  EXPECT_THROW(v.Assign(Tensor::Of<float>({1, 2, 3})), Error);
  EXPECT_THROW(v.Assign(Tensor::Of<int32_t>({1, 2})), Error);
  const Variable same = v;
  same.AssignSub(Tensor::Of<float>({1, 1}));
  EXPECT_EQ(Floats(v), (std::vector<float>{10, 11}));
}

TEST(CppVariable, KeepsItsShapeInATrace) {
  Variable v(Tensor::Of<float>({1, 2}), {.name = "v"});
  Function assign([&](Tensor x) { return v.Assign(x).Read() * 2; },
                  {.input_signature = {TensorSpec(DType::kFloat, {-1}, "x")}});
  EXPECT_EQ(Floats(assign(Tensor::Of<float>({3, 4}))), (std::vector<float>{6, 8}));
  try {
    assign(Tensor::Of<float>({5, 6, 7}));
    ADD_FAILURE() << "the shapes fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
  }
  EXPECT_EQ(Floats(v), (std::vector<float>{3, 4}));
  EXPECT_EQ(assign.trace_count(), 1);
}

TEST(CppVariable, TakesNumbersOfItsType) {
  Variable v(Tensor(1.0)), i(Tensor(1)), text(Tensor("a"));
  v.AssignAdd(1).AssignSub(0.5f);
  EXPECT_EQ(v.Read().item<double>(), 1.5);
  i.Assign(7);
  EXPECT_EQ(i.Read().item<int32_t>(), 7);
  EXPECT_THROW(i.AssignAdd(0.5), Error);
  text.Assign("bc");
  EXPECT_EQ(text.Read().item<std::string>(), "bc");
  v.Assign(v * 2);
  EXPECT_EQ(v.Read().item<double>(), 3);
}

TEST(CppVariable, HasPartsAsItsValue) {
  const Variable v(Tensor::Of<float>({{1, 2}, {3, 4}}));
  EXPECT_EQ(Floats(v[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(Floats(v[{All, 1}]), (std::vector<float>{2, 4}));
  EXPECT_EQ(v({-1, 0}).item<float>(), 3);
}

TEST(CppTensor, TakesPairsInBracesForComplexNumbers) {
  using Complex = std::complex<float>;
  const Tensor vector = Tensor::Of<Complex>({{1, 2}, {3, 4}});
  EXPECT_EQ(vector.shape(), (Shape{2}));
  EXPECT_EQ(vector.data<Complex>()[1], Complex(3, 4));
  EXPECT_EQ(Tensor::Of<Complex>({{1, 2}}).shape(), (Shape{1}));
  EXPECT_EQ(Tensor::Of<Complex>({1, 2}).shape(), (Shape{2}));
  const Tensor matrix = Tensor::Of<Complex>({{{1, 2}, {3, 4}}, {Complex(5), Complex(6, 7)}});
  EXPECT_EQ(matrix.shape(), (Shape{2, 2}));
  EXPECT_EQ(matrix.data<Complex>()[3], Complex(6, 7));
  EXPECT_EQ(Tensor::Of<std::complex<double>>({{{{1., 2.}}, {{3., 4.}}}}).shape(), (Shape{1, 2, 1}));
}

TEST(CppVariable, LivesAsLongAsTheTracesThatUseIt) {
  std::optional<Variable> sum;
  Function count([&](Tensor by) {
    if (!sum) sum.emplace(Tensor(0.f));
    return sum->AssignAdd(by).Read();
  });
  EXPECT_EQ(count(Tensor(2.f)).item<float>(), 2);
  sum.reset();
  EXPECT_EQ(count(Tensor(3.f)).item<float>(), 5);
  EXPECT_EQ(count.trace_count(), 1);
}

TEST(CppDevices, AreListed) {
  const std::vector<DeviceInfo> devices = ListDevices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices[0].type, "CPU");
  EXPECT_THROW(LoadPlugin("/nowhere.so"), Error);
}

}  // namespace
}  // namespace tenon
