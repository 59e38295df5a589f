// The functions of tenon/ops: each kind of signature, run eagerly and in a trace.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

using Values = std::vector<float>;
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

std::vector<std::string> Elements(const Tensor& tensor) {
  return (tensor.dtype() == DType::kString ? tensor : ops::AsString(tensor))
      .ToVector<std::string>();
}

// Runs `program`, which gives a list of tensors, eagerly and as a function, and gives what it
// computed, if both are the same.
template <typename Program>
std::vector<Tensor> InBothModes(const Program& program) {
  const std::vector<Tensor> eager = program();
  Function function(program);
  const std::vector<Tensor> traced = function();
  EXPECT_EQ(eager.size(), traced.size());
  for (size_t i = 0; i < eager.size() && i < traced.size(); ++i) {
    EXPECT_EQ(eager[i].dtype(), traced[i].dtype()) << i;
    EXPECT_EQ(eager[i].shape(), traced[i].shape()) << i;
    EXPECT_EQ(Elements(eager[i]), Elements(traced[i])) << i;
  }
  return eager;
}

TEST(CppOps, TakeTensorsNumbersAndVariables) {
  const Variable variable(Tensor::Of<float>({1, 2}));
  const auto results = InBothModes([&] {
    const Tensor x = Tensor::Of<float>({3, 4});
    return std::vector<Tensor>{ops::AddV2(x, variable), ops::Mul(x, 2.0f), ops::Neg(variable),
                               ops::Sum(x, 0), ops::Relu(ops::Sub(1.0f, x))};
  });
  EXPECT_EQ(results[0].ToVector<float>(), (Values{4, 6}));
  EXPECT_EQ(results[1].ToVector<float>(), (Values{6, 8}));
  EXPECT_EQ(results[2].ToVector<float>(), (Values{-1, -2}));
  EXPECT_EQ(results[3].item<float>(), 7);
  EXPECT_EQ(results[4].ToVector<float>(), (Values{0, 0}));
}

TEST(CppOps, TakeIntegersOfSeveralTypesInBraces) {
  const Tensor x = Tensor::Of<float>({1, 2, 3, 4});
  const int64_t rows = 2;
  const int32_t columns = 2;
  EXPECT_EQ(ops::Reshape(x, {-1, rows}).shape(), (Shape{2, 2}));
  EXPECT_EQ(ops::Reshape(x, {rows, columns}).shape(), (Shape{2, 2}));
  EXPECT_EQ(ops::Fill({columns, size_t{3}, rows}, 1.f).shape(), (Shape{2, 3, 2}));
  // Lists of one type stay what they were.
  EXPECT_EQ(ops::Identity({rows, rows}).dtype(), DType::kInt64);
  EXPECT_EQ(ops::Identity({columns, 1}).dtype(), DType::kInt32);
  EXPECT_EQ(ops::Identity({{rows}, {rows}}).shape(), (Shape{2, 1}));
}

TEST(CppOps, TakeListsInBracesAsVectors) {
  const int64_t rows = 3;
  const auto results = InBothModes([&] {
    const Tensor x = Tensor::Of<float>({{1, 2, 3}, {4, 5, 6}});
    return std::vector<Tensor>{ops::Reshape(x, {-1}),
                               ops::Reshape(x, {rows, int64_t{2}}),
                               ops::Reshape(ops::Sum(x, {0, 1}), {}),
                               ops::Sum(x, {1}),
                               ops::Transpose(x, {1, 0}),
                               ops::Fill({2, 2}, 1.5f),
                               ops::Tile(x, {1, 2}),
                               ops::Pad(x, {{0, 0}, {1, 0}}),
                               ops::AddV2({x}, {10.f}),
                               ops::StringUpper({"a", "bc"})};
  });
  EXPECT_EQ(results[0].shape(), (Shape{6}));
  EXPECT_EQ(results[1].shape(), (Shape{3, 2}));
  EXPECT_EQ(results[2].shape(), (Shape{}));
  EXPECT_EQ(results[2].item<float>(), 21);
  EXPECT_EQ(results[3].ToVector<float>(), (Values{6, 15}));
  EXPECT_EQ(results[4].ToVector<float>(), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(results[5].ToVector<float>(), (Values{1.5, 1.5, 1.5, 1.5}));
  EXPECT_EQ(results[6].shape(), (Shape{2, 6}));
  EXPECT_EQ(results[7].ToVector<float>(), (Values{0, 1, 2, 3, 0, 4, 5, 6}));
  EXPECT_EQ(results[8].ToVector<float>(), (Values{11, 12, 13, 14, 15, 16}));
  EXPECT_EQ(results[9].ToVector<std::string>(), (std::vector<std::string>{"A", "BC"}));
  // A number without braces is a scalar, as braces around a Tensor's only number are elsewhere.
  EXPECT_EQ(ops::Rank(5).item<int32_t>(), 0);
  EXPECT_EQ(ops::Rank({5}).item<int32_t>(), 1);
  const Tensor one{5};
  EXPECT_EQ(one.shape(), (Shape{}));
  EXPECT_THROW(ops::Rank({{1, 2}, {3}}), Error);
}

TEST(CppOps, RefuseAttributesThatTheyDoNotHave) {
  const Tensor x = Tensor::Of<float>({{1}});
  const auto call = [&] {
    return Op("MatMul").Input(x).Input(x).Attr("transpose_c", true).RunOne();
  };
  Function traced(call);
  for (const bool in_trace : {false, true, false}) {
    try {
      in_trace ? traced() : call();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT);
      EXPECT_EQ(error.op(), "MatMul");
      EXPECT_EQ(error.where().substr(0, 12), "ops_test.cc:");
      EXPECT_NE(error.message().find("no attribute \"transpose_c\"; it has "), std::string::npos)
          << error.message();
      EXPECT_NE(error.message().find("transpose_a"), std::string::npos) << error.message();
    }
  }
  EXPECT_EQ(traced.trace_count(), 0);
  // Names that begin with '_' are the program's own.
  EXPECT_EQ(Op("MatMul").Input(x).Input(x).Attr("_mine", 1).RunOne().item<float>(), 1);
  try {
    Op("NoSuchOp").Input(x).Attr("a", 1).RunOne();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message().find("attribute"), std::string::npos) << error.message();
  }
}

TEST(CppOps, TakeOptionalAttributesByName) {
  const auto results = InBothModes([] {
    const Tensor a = Tensor::Of<float>({{1, 2}, {3, 4}});
    return std::vector<Tensor>{ops::MatMul(a, a),
                               ops::MatMul(a, a, {.transpose_b = true}),
                               ops::Mean(a, 1, {.keep_dims = true}),
                               ops::ArgMax(a, 0, {.output_type = DType::kInt32}),
                               ops::LeakyRelu(ops::Neg(a), {.alpha = 0.5f}),
                               ops::StringJoin({"a", "b"}, {.separator = "-"}),
                               ops::Squeeze(ops::ExpandDims(a, 0), {.squeeze_dims = {0}})};
  });
  EXPECT_EQ(results[0].ToVector<float>(), (Values{7, 10, 15, 22}));
  EXPECT_EQ(results[1].ToVector<float>(), (Values{5, 11, 11, 25}));
  EXPECT_EQ(results[2].shape(), (Shape{2, 1}));
  EXPECT_EQ(results[3].ToVector<int32_t>(), (Ints{1, 1}));
  EXPECT_EQ(results[4].ToVector<float>(), (Values{-0.5, -1, -1.5, -2}));
  EXPECT_EQ(results[5].item<std::string>(), "a-b");
  EXPECT_EQ(results[6].shape(), (Shape{2, 2}));
}

TEST(CppOps, TakeRequiredAttributesAfterInputs) {
  const auto results = InBothModes([] {
    const Tensor image =
        ops::Reshape(ops::Range(0.0f, 16.0f, 1.0f), Tensor::Of<int32_t>({1, 4, 4, 1}));
    const Tensor filter = ops::Fill(Tensor::Of<int32_t>({2, 2, 1, 1}), 1.0f);
    return std::vector<Tensor>{
        ops::Cast(image, DType::kInt32),
        ops::MaxPool(image, {1, 2, 2, 1}, {1, 2, 2, 1}, "VALID"),
        ops::Conv2D(image, filter, {1, 1, 1, 1}, "SAME", {.dilations = {1, 2, 2, 1}}),
        ops::Const(Tensor::Of<int32_t>({1, 2}), DType::kInt32),
        ops::EnsureShape(image, Shape{1, -1, 4, 1}),
        ops::Bucketize(image, {2.5f, 10.0f}),
        ops::PlaceholderWithDefault(image, Shape::Unknown())};
  });
  EXPECT_EQ(results[0].dtype(), DType::kInt32);
  EXPECT_EQ(results[1].ToVector<float>(), (Values{5, 7, 13, 15}));
  EXPECT_EQ(results[2].shape(), (Shape{1, 4, 4, 1}));
  EXPECT_EQ(results[3].ToVector<int32_t>(), (Ints{1, 2}));
  EXPECT_EQ(results[4].shape(), (Shape{1, 4, 4, 1}));
  EXPECT_EQ(results[5].ToVector<int32_t>(), (Ints{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2}));
}

// Three lists of 40 outputs each have one attribute as their length.
TEST(CppOps, GiveSeveralListsOfOneLength) {
  const auto results = InBothModes([] {
    return Op("SparseSplit")
        .Input(Tensor(int64_t{0}))
        .Input(Tensor::Of<int64_t>({{7, 1}}))
        .Input(Tensor::Of<float>({5}))
        .Input(Tensor::Of<int64_t>({40, 2}))
        .Attr("num_split", 40)
        .Run();
  });
  ASSERT_EQ(results.size(), 120u);
  EXPECT_EQ(results[7].ToVector<int64_t>(), (Longs{0, 1}));
  EXPECT_EQ(results[47].ToVector<float>(), (Values{5}));
  EXPECT_EQ(results[119].ToVector<int64_t>(), (Longs{1, 2}));
}

TEST(CppOps, TakeAndGiveLists) {
  const auto results = InBothModes([] {
    const Tensor a = Tensor::Of<int32_t>({1, 2, 3, 4}), b = Tensor::Of<int32_t>({5, 6, 7, 8});
    std::vector<Tensor> all = {ops::ConcatV2({a, b}, 0), ops::Pack({a, b}, {.axis = 1}),
                               ops::AddN({a, b, a})};
    const auto add = [&](const std::vector<Tensor>& list, size_t count) {
      EXPECT_EQ(list.size(), count);
      all.insert(all.end(), list.begin(), list.end());
    };
    add(ops::Split(0, a, 2), 2);
    add(ops::Unpack(ops::Pack({a, b}), 2), 2);
    add(ops::SplitV(a, Tensor::Of<int32_t>({1, 3}), 0, 2), 2);
    add(ops::IdentityN({a, 2.0f, "text"}), 3);
    add(ops::ShapeN({a, b}, {.out_type = DType::kInt64}), 2);
    add(ops::DynamicPartition(a, Tensor::Of<int32_t>({0, 2, 0, 1}), 3), 3);
    return all;
  });
  EXPECT_EQ(results[0].ToVector<int32_t>(), (Ints{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(results[1].ToVector<int32_t>(), (Ints{1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_EQ(results[2].ToVector<int32_t>(), (Ints{7, 10, 13, 16}));
  EXPECT_EQ(results[3].ToVector<int32_t>(), (Ints{1, 2}));
  EXPECT_EQ(results[6].ToVector<int32_t>(), (Ints{5, 6, 7, 8}));
  EXPECT_EQ(results[8].ToVector<int32_t>(), (Ints{2, 3, 4}));
  EXPECT_EQ(results[11].item<std::string>(), "text");
  EXPECT_EQ(results[12].ToVector<int64_t>(), (Longs{4}));
  EXPECT_EQ(results[14].ToVector<int32_t>(), (Ints{1, 3}));
}

TEST(CppOps, GiveSeveralOutputsByName) {
  const auto results = InBothModes([] {
    const ops::TopKV2Outputs top = ops::TopKV2(Tensor::Of<float>({1, 4, 2, 3}), 2);
    const auto [y, idx, count] = ops::UniqueWithCounts(Tensor::Of<int32_t>({7, 7, 8}));
    const Tensor none = Tensor::Of<float>(Shape{0}, Values{});
    const Tensor images = Tensor::Of<float>({{{{1}, {3}}}});
    const auto norm = ops::FusedBatchNormV3(images, Tensor::Of<float>({1}), Tensor::Of<float>({0}),
                                            none, none, {.epsilon = 0.0f});
    return std::vector<Tensor>{top.values, top.indices, y, idx, count, norm.y};
  });
  EXPECT_EQ(results[0].ToVector<float>(), (Values{4, 3}));
  EXPECT_EQ(results[1].ToVector<int32_t>(), (Ints{1, 3}));
  EXPECT_EQ(results[2].ToVector<int32_t>(), (Ints{7, 8}));
  EXPECT_EQ(results[3].ToVector<int32_t>(), (Ints{0, 0, 1}));
  EXPECT_EQ(results[4].ToVector<int32_t>(), (Ints{2, 1}));
}

// Outputs that are lists beside others: their lengths come from the attributes or inputs.
TEST(CppOps, GiveSeveralOutputsThroughFunctions) {
  Function f([](Tensor x) { return ops::TopKV2(x, 2); });
  const ops::TopKV2Outputs top = f(Tensor::Of<float>({1, 4, 2, 3}));
  EXPECT_EQ(top.values.ToVector<float>(), (Values{4, 3}));
  EXPECT_EQ(top.indices.ToVector<int32_t>(), (Ints{1, 3}));
}

TEST(CppOps, GiveListsAmongSeveralOutputs) {
  const auto results = InBothModes([] {
    const auto example = ops::ParseExample(
        Tensor::Of<std::string>({std::string()}), Tensor::Of<std::string>(Shape{0}, {}), {"a", "b"},
        {"c"}, {Tensor::Of<float>({2.5f})}, {DType::kInt64, DType::kFloat}, {Shape{1}});
    EXPECT_EQ(example.sparse_indices.size(), 2u);
    EXPECT_EQ(example.sparse_values.size(), 2u);
    EXPECT_EQ(example.sparse_shapes.size(), 2u);
    EXPECT_EQ(example.dense_values.size(), 1u);
    return std::vector<Tensor>{example.sparse_values[0], example.sparse_values[1],
                               example.dense_values[0]};
  });
  EXPECT_EQ(results[0].dtype(), DType::kInt64);
  EXPECT_EQ(results[1].dtype(), DType::kFloat);
  EXPECT_EQ(results[2].ToVector<float>(), (Values{2.5f}));
}

TEST(CppOps, WithoutOutputsGiveNothing) {
  static_assert(std::is_void_v<decltype(ops::NoOp())>);
  const Variable variable(Tensor::Of<float>({1, 2}));
  Function function([&](const Tensor& x) {
    ops::NoOp();
    ops::AssignAddVariableOp(variable.handle(), x);
    ops::Assert(ops::All(ops::Greater(x, 0.0f), 0), {x});
    return ops::ReadVariableOp(variable.handle(), DType::kFloat);
  });
  EXPECT_EQ(function(Tensor::Of<float>({1, 1})).ToVector<float>(), (Values{2, 3}));
  ops::AssignSubVariableOp(variable.handle(), Tensor::Of<float>({1, 1}));
  EXPECT_EQ(variable.Read().ToVector<float>(), (Values{1, 2}));
  EXPECT_THROW(function(Tensor::Of<float>({-1, -1})), Error);
}

TEST(CppOps, TakeFunctions) {
  Function twice([](const Tensor& x) { return ops::Mul(x, 2.0f); }, {.name = "twice"});
  Function minus([](const Tensor& x) { return ops::Neg(x); }, {.name = "minus"});
  const auto spec = TensorSpec(DType::kFloat, Shape{2});
  const ConcreteFunction one = twice.Concrete(spec), other = minus.Concrete(spec);
  const auto results = InBothModes([&] {
    const Tensor x = Tensor::Of<float>({1, 2});
    return std::vector<Tensor>{ops::PartitionedCall({x}, {DType::kFloat}, one)[0],
                               ops::StatelessIf(false, {x}, {DType::kFloat}, one, other)[0],
                               ops::StatelessCase(0, {x}, {DType::kFloat}, {one, other})[0]};
  });
  EXPECT_EQ(results[0].ToVector<float>(), (Values{2, 4}));
  EXPECT_EQ(results[1].ToVector<float>(), (Values{-1, -2}));
  EXPECT_EQ(results[2].ToVector<float>(), (Values{2, 4}));
}

// An attribute `template`, which is a keyword; ops named as types of the library are.
TEST(CppOps, WithNamesThatAreTakenCanBeCalled) {
  const auto results = InBothModes([] {
    const Tensor x = Tensor::Of<int32_t>({{1, 0}, {0, 1}});
    return std::vector<Tensor>{
        ops::StringFormat({x}, {.template_ = "<%s>", .placeholder = "%s"}), ops::Shape(x),
        ops::Where(ops::Cast(x, DType::kBool)),
        ops::Slice(x, Tensor::Of<int32_t>({0, 1}), Tensor::Of<int32_t>({2, 1}))};
  });
  EXPECT_EQ(results[0].item<std::string>().substr(0, 2), "<[");
  EXPECT_EQ(results[1].ToVector<int32_t>(), (Ints{2, 2}));
  EXPECT_EQ(results[2].ToVector<int64_t>(), (Longs{0, 0, 1, 1}));
  EXPECT_EQ(results[3].ToVector<int32_t>(), (Ints{0, 1}));
}

TEST(CppOps, SayWhereTheyWereCalled) {
  const int line = __LINE__ + 2;
  try {
    ops::MatMul(Tensor::Of<float>({{1, 2}}), Tensor::Of<float>({{1, 2}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "MatMul");
    EXPECT_EQ(error.where(), "ops_test.cc:" + std::to_string(line));
  }
}

TEST(CppOps, WorkOnTextsTablesAndRandomNumbers) {
  SetSeed(3);
  const Tensor random = ops::RandomUniform(Tensor::Of<int32_t>({3}), DType::kFloat);
  EXPECT_EQ(random.shape(), (Shape{3}));
  EXPECT_EQ(ops::StatelessRandomUniform(Tensor::Of<int32_t>({2}), Tensor::Of<int64_t>({1, 2}))
                .ToVector<float>(),
            ops::StatelessRandomUniform(Tensor::Of<int32_t>({2}), Tensor::Of<int64_t>({1, 2}))
                .ToVector<float>());
  const Tensor table = ops::HashTableV2(DType::kString, DType::kInt64);
  ops::LookupTableImportV2(table, Tensor::Of<std::string>({"a", "b"}), Tensor::Of<int64_t>({1, 2}));
  EXPECT_EQ(ops::LookupTableFindV2(table, Tensor::Of<std::string>({"b", "c"}), int64_t{-1})
                .ToVector<int64_t>(),
            (Longs{2, -1}));
  const Tensor queue = ops::FIFOQueueV2({DType::kFloat, DType::kString}, {.capacity = 4});
  ops::QueueEnqueueV2(queue, {1.5f, "text"});
  const std::vector<Tensor> element = ops::QueueDequeueV2(queue, {DType::kFloat, DType::kString});
  ASSERT_EQ(element.size(), 2u);
  EXPECT_EQ(element[1].item<std::string>(), "text");
}

// Whole numbers: their sums do not depend on the order.
TEST(CppOps, ProductsOfAllSizes) {
  for (const int64_t m : {1, 4, 6, 33}) {
    for (const int64_t n : {1, 15, 32, 50}) {
      for (const int64_t k : {1, 16, 47, 64, 90}) {
        std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
        for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 11) - 5;
        for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 13) - 6;
        for (const bool turn_a : {false, true}) {
          for (const bool turn_b : {false, true}) {
            std::vector<float> product(static_cast<size_t>(m * n));
            for (int64_t i = 0; i < m; ++i) {
              for (int64_t j = 0; j < n; ++j) {
                for (int64_t p = 0; p < k; ++p) {
                  product[static_cast<size_t>(i * n + j)] +=
                      a[static_cast<size_t>(turn_a ? p * m + i : i * k + p)] *
                      b[static_cast<size_t>(turn_b ? j * k + p : p * n + j)];
                }
              }
            }
            const Tensor result =
                ops::MatMul(Tensor::Of<float>(turn_a ? Shape{k, m} : Shape{m, k}, a),
                            Tensor::Of<float>(turn_b ? Shape{n, k} : Shape{k, n}, b),
                            {.transpose_a = turn_a, .transpose_b = turn_b});
            EXPECT_EQ(result.ToVector<float>(), product)
                << m << " " << n << " " << k << " " << turn_a << " " << turn_b;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon
