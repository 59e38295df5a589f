// Where the program called an op of a function of the C++ library: in errors, reports and traces.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"

namespace tenon {
namespace {

TEST(CppFunction, KnowsWhereItWasCalled) {
  Function inner([](Tensor x, int) { return x * 2; });
  int line = 0;
  Function outer([&](Tensor x) {
    line = __LINE__ + 1;
    return inner(x, 1);
  });
  const std::string graph = outer.Concrete(TensorSpec(DType::kFloat, {})).graph_def();
  EXPECT_NE(graph.find("place_test.cc:" + std::to_string(line)), std::string::npos);
  const ConcreteFunction concrete = inner.Concrete(TensorSpec(DType::kFloat, {}), 1);
  EXPECT_EQ(concrete(Tensor(2.f))[0].item<float>(), 4);
  try {
    line = __LINE__ + 1;
    concrete(Tensor(2.f), Tensor(3.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "place_test.cc:" + std::to_string(line));
  }
  Function many([](int a, int b, int c, int d, int e, int f, int g, Tensor x) {
    return x + static_cast<float>(a + b + c + d + e + f + g);
  });
  EXPECT_EQ(many(1, 2, 3, 4, 5, 6, 7, Tensor(1.f)).item<float>(), 29);
}

TEST(CppProfile, LeadsFromSlicesToLines) {
  int line = 0;
  Function f([&](Tensor x) {
    line = __LINE__ + 1;
    return Op("Sinh").Input(x).RunOne();
  });
  f(Tensor(1.f));
  const std::string path = ::testing::TempDir() + "tenon_profile.json";
  const auto written = [&](Profile& profile) {
    profile.Write(path);
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  {
    Profile profile;
    f(Tensor(1.f));
    f(Tensor(2.f));
    const std::string trace = written(profile);
    const std::string slice =
        "\"op\":\"Sinh\",\"place\":\"place_test.cc:" + std::to_string(line) + "\"";
    const size_t first = trace.find(slice);
    ASSERT_NE(first, std::string::npos) << trace;
    EXPECT_NE(trace.find(slice, first + 1), std::string::npos) << trace;
    EXPECT_EQ(written(profile).find("Sinh"), std::string::npos) << "it was written before";
    EXPECT_THROW(profile.Write("/nonexistent/trace.json"), Error);
  }
  f(Tensor(1.f));
  Profile profile;
  EXPECT_EQ(written(profile).find("Sinh"), std::string::npos);
  std::remove(path.c_str());
}

TEST(CppFunction, SaysWhereAnOpWasCalled) {
  int line = 0;
  Function f([&](Tensor x) {
    line = __LINE__ + 1;
    return Op("FloorDiv").Input(x).Input(Tensor(0)).RunOne();
  });
  try {
    f(Tensor(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "FloorDiv");
    EXPECT_EQ(error.node(), "FloorDiv");
    EXPECT_EQ(error.where(), "place_test.cc:" + std::to_string(line));
  }
  Function g([&](Tensor x) {
    line = __LINE__ + 1;
    return Op("MatMul").Input(x).Input(x).RunOne();
  });
  try {
    g(Tensor(1.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "MatMul");
    EXPECT_EQ(error.where(), "place_test.cc:" + std::to_string(line));
  }
}

// Functions, branches and loops are put in the places of their calls before a graph runs.
TEST(CppFunction, SaysWhereAnOpOfAnInnerFunctionWasCalled) {
  int line = 0;
  Function inner([&](Tensor x) {
    line = __LINE__ + 1;
    return Op("CheckNumerics").Input(x).Attr("message", "infinite").RunOne();
  });
  const auto place = [](const auto& function, float x) {
    try {
      function(Tensor(x));
    } catch (const Error& error) {
      return error.op() + " " + error.where();
    }
    return std::string();
  };
  Function called([&](Tensor x) { return inner(1.f / x); });
  const std::string called_at = place(called, 0);
  EXPECT_EQ(called_at, "CheckNumerics place_test.cc:" + std::to_string(line));
  Function branch([&](Tensor x) {
    return Cond(
        x > 5.f, [&] { return -x; }, [&] { return inner(1.f / x); });
  });
  EXPECT_EQ(place(branch, 0), called_at);
  Function loop([&](Tensor x) {
    return While([](Tensor i) { return i >= 0.f; },
                 [&](Tensor i) { return inner(1.f / (i - 1.f)); }, x);
  });
  EXPECT_EQ(place(loop, 1), called_at);
  // Which of two nodes of one name it was is not known.
  int cond_line = 0;
  Function either([&](Tensor x) {
    const auto check = [&] { return inner(1.f / x); };
    cond_line = __LINE__ + 1;
    return Cond(x > 5.f, check, check);
  });
  const std::string either_at = place(either, 0);
  EXPECT_EQ(either_at, "CheckNumerics place_test.cc:" + std::to_string(cond_line));
}

// What the graph of a function says of its nodes: name, then places.
std::map<std::string, std::string> PlacesIn(const std::string& explained) {
  std::map<std::string, std::string> places;
  std::istringstream lines(explained);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(", made at ");
    if (at != std::string::npos) places[line.substr(0, line.find(':'))] = line.substr(at + 10);
  }
  return places;
}

std::string Here(int line) { return "place_test.cc:" + std::to_string(line); }

TEST(CppFunction, ExplainsWhereNodesWereMade) {
  int product = 0, bias = 0;
  Function inner([&](Tensor x, Tensor b) {
    bias = __LINE__ + 1;
    return Op("BiasAdd").Input(x).Input(b).RunOne();
  });
  Function f([&](Tensor x, Tensor w, Tensor b) {
    product = __LINE__ + 1;
    const Tensor y = Op("MatMul").Input(x).Input(w).RunOne();
    return inner(y, b);
  });
  const TensorSpec matrix(DType::kFloat, {2, 2});
  const ConcreteFunction concrete = f.Concrete(matrix, matrix, TensorSpec(DType::kFloat, {2}));
  const std::string text = concrete.Explain();
  // The product and the sum have become one node, which keeps both places.
  bool is_fused = false;
  for (const auto& [node, places] : PlacesIn(text)) {
    if (places == Here(bias) + ", " + Here(product)) is_fused = true;
  }
  EXPECT_TRUE(is_fused) << text;
}

TEST(CppFunction, LeadsFromGradientsToTheOpsThatTheyAreOf) {
  int line = 0;
  Function f([&](Tensor x) {
    line = __LINE__ + 1;
    const Tensor y = Op("Sinh").Input(x).RunOne();
    return Gradients({y}, {x})[0];
  });
  const std::string text = f.Concrete(TensorSpec(DType::kFloat, {2})).Explain();
  int nodes = 0;
  for (const auto& [node, places] : PlacesIn(text)) {
    if (!node.starts_with("gradients/")) continue;
    EXPECT_EQ(places, Here(line)) << node;
    ++nodes;
  }
  EXPECT_GT(nodes, 0) << text;
  // An error of such a node, too: what flows into the check is not finite.
  Function fails([&](Tensor x) {
    line = __LINE__ + 1;
    const Tensor y = Op("CheckNumerics").Input(x).Attr("message", "infinite").RunOne();
    return Gradients({y}, {x}, {x / 0.f})[0];
  });
  try {
    fails(Tensor(1.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), Here(line)) << error.what();
    EXPECT_EQ(error.op(), "CheckNumerics");
    EXPECT_TRUE(error.node().starts_with("gradients/")) << error.node();
  }
}

TEST(CppFunction, SaysBehindWhatItBranchesByAnEmptyTensor) {
  Function f([](Tensor x) {
    Tensor pred = x > 0.f;
    const int line = __LINE__ - 1;
    const Tensor moved = std::move(pred);
    try {
      if (pred) return x;  // NOLINT
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "place_test.cc:" + std::to_string(line));
      throw;
    }
    return -x;
  });
  EXPECT_THROW(f(Tensor(1.f)), Error);
}

TEST(CppFunction, RefusesToBranchByASymbol) {
  Function f([](Tensor x) { return (x > 0) ? x : -x; });
  try {
    f(Tensor(1.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_FAILED_PRECONDITION);
    EXPECT_NE(error.message().find("Cond("), std::string::npos);
    EXPECT_NE(error.where().find("place_test.cc:"), std::string::npos);
  }
  EXPECT_EQ(f.trace_count(), 0);
}

}  // namespace
}  // namespace tenon
