// SessionOptions::device_streams: branches of a graph on several compute streams of a device.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/session/session.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/kernels.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/pass_on_util.h"
#include "tests/executor/session/lazy_device_util.h"

namespace tenon::compute_streams_test {
namespace {

using testing::Bool;
using testing::Const;
using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LazyDevice;
using testing::Node;
using ::testing::Not;
using testing::Parse;
using testing::Placeholder;
using testing::Values;

constexpr char kOne[] = "dim { size: 1 }";

// A kernel of LAZY reads its inputs and writes its output on its stream, by `work`.
using Work = void (*)(std::vector<const float*> inputs, float* output, int64_t count);

template <Work work, bool kUsesScratch>
void Compute(void*, TF_OpKernelContext* context) {
  const std::unique_ptr<TF_Status, void (*)(TF_Status*)> status(TF_NewStatus(), TF_DeleteStatus);
  std::vector<const float*> inputs;
  std::vector<int64_t> dims;
  int64_t count = 0;
  std::vector<int> candidates;
  for (int i = 0; i < TF_NumInputs(context); ++i) {
    TF_Tensor* in = nullptr;
    TF_GetInput(context, i, &in, status.get());
    dims.resize(TF_NumDims(in));
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = TF_Dim(in, static_cast<int>(d));
    count = TF_TensorElementCount(in);
    inputs.push_back(static_cast<const float*>(TF_TensorData(in)));
    TF_DeleteTensor(in);
    candidates.push_back(i);
  }
  int forwarded = -1;
  TF_Tensor* const out = TF_ForwardInputOrAllocateOutput(
      context, candidates.data(), static_cast<int>(candidates.size()), 0, dims.data(),
      static_cast<int>(dims.size()), &forwarded, status.get());
  if (out == nullptr) return TF_OpKernelContext_Failure(context, status.get());
  auto* const stream = reinterpret_cast<LazyDevice::Stream*>(TF_GetStream(context, status.get()));
  auto* const output = static_cast<float*>(TF_TensorData(out));
  float* target = output;
  TF_Tensor* scratch = nullptr;
  if (kUsesScratch) {
    TF_AllocatorAttributes attributes = {TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE, 0};
    scratch = TF_AllocateTemp(context, TF_FLOAT, dims.data(), static_cast<int>(dims.size()),
                              &attributes, status.get());
    target = static_cast<float*>(TF_TensorData(scratch));
  }
  stream->Queue([=] { work(inputs, target, count); });
  if (kUsesScratch) {
    stream->Queue([=] { std::memcpy(output, target, count * sizeof(float)); });
    TF_DeleteTensor(scratch);
  }
  TF_DeleteTensor(out);
}

void AddOne(std::vector<const float*> inputs, float* output, int64_t count) {
  for (int64_t i = 0; i < count; ++i) output[i] = inputs[0][i] + 1;
}
// The sum, the later inputs with more weight.
void Weigh(std::vector<const float*> inputs, float* output, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (size_t k = 0; k < inputs.size(); ++k) sum += static_cast<float>(k + 1) * inputs[k][i];
    output[i] = sum > 4096 ? sum / 4096 : sum;
  }
}

// y = x + 1, and the same by way of scratch memory; y = x in the same memory; y = a + 2 b + ….
constexpr char kAddOne[] = "Relu", kScratch[] = "Elu", kPass[] = "Abs", kWeigh[] = "AddN";

std::string Sum(std::string_view name, std::vector<std::string> inputs, std::string attrs = "") {
  const auto n = std::ranges::count_if(inputs, [](const auto& input) { return input[0] != '^'; });
  return Node(name, kWeigh, std::move(inputs),
              absl::StrCat("attr { key: 'N' value { i: ", n, " } } ", attrs));
}

class ComputeStreams : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Register(kAddOne, Compute<AddOne, false>);
    Register(kScratch, Compute<AddOne, true>);
    Register(kWeigh, Compute<Weigh, false>);
    Register(kPass, testing::PassOn);
  }
  static void TearDownTestSuite() { KernelRegistry::Global().RemovePlugin("lazy"); }
  static void Register(const char* op, void (*compute)(void*, TF_OpKernelContext*)) {
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = op;
    kernel->device_type = "LAZY";
    kernel->plugin = "lazy";
    kernel->fns.compute = compute;
    KernelRegistry::Global().Register(std::move(kernel));
  }

  void Make(const std::string& text, int streams) {
    session_.reset();
    SessionOptions options;
    options.opt_level = 0;
    options.threads = 1;
    options.device_streams = streams;
    auto session = Session::Create(Parse(text), {&device_, &other_}, options);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }
  // The values of the fetches, all in one.
  std::vector<float> Run(const std::vector<Session::NamedTensor>& feeds,
                         const std::vector<std::string>& fetches) {
    device_.TakeLog();
    const auto out = session_->Run(feeds, fetches);
    status_ = out.status();
    std::vector<float> values;
    if (out.ok()) {
      for (const Tensor& t : *out) {
        if (!t.initialized()) continue;  // of a node to run
        for (const float v : Values(t)) values.push_back(v);
      }
    }
    log_ = device_.TakeLog();
    return values;
  }
  std::string Plan(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches) {
    return PlanText(**session_->Prepare(feeds, fetches));
  }

  LazyDevice device_{0}, other_{1};
  std::unique_ptr<Session> session_;
  absl::Status status_;
  std::vector<std::string> log_;
};

// x -> a, then two chains, then their sum.
std::string Fork(std::string_view op = kAddOne) {
  return Placeholder("x", kOne) + Node("a", op, {"x"}) + Node("b", op, {"a"}) +
         Node("b2", op, {"b"}) + Node("c", op, {"a"}) + Node("c2", op, {"c"}) +
         Sum("s", {"b2", "c2"});
}

TEST_F(ComputeStreams, BranchesHaveStreamsOfTheirOwn) {
  for (const char* op : {kAddOne, kScratch}) {
    Make(Fork(op), 2);
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(Run({{"x", Floats({1}, {1})}}, {"s"}), ElementsAre(12)) << status_;
      EXPECT_THAT(log_, ElementsAre("h2d < compute", "compute 1 < event of compute",
                                    "compute 1 < event of compute", "d2h < compute 1"));
    }
    const std::string plan = Plan({"x"}, {"s"});
    EXPECT_THAT(plan, HasSubstr("[/device:LAZY:0 compute]"));
    EXPECT_THAT(plan, HasSubstr("[/device:LAZY:0 compute 1]"));
    EXPECT_THAT(plan, HasSubstr("s (AddN) [/device:LAZY:0 compute 1 behind compute]"));
  }
  EXPECT_EQ(device_.made_streams(), 2);
}

TEST_F(ComputeStreams, OneIsTheDefault) {
  EXPECT_EQ(SessionOptions().device_streams, 1);
  Make(Fork(), 1);
  EXPECT_THAT(Run({{"x", Floats({1}, {1})}}, {"s"}), ElementsAre(12)) << status_;
  EXPECT_THAT(log_, ElementsAre("h2d < compute", "d2h < compute"));
  EXPECT_EQ(device_.made_streams(), 1);
}

TEST_F(ComputeStreams, NumbersOutOfRangeAreErrors) {
  for (const int streams : {-1, 0, 17}) {
    SessionOptions options;
    options.device_streams = streams;
    const auto session = Session::Create(Graph(), {&device_}, options);
    EXPECT_EQ(session.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(session.status().message()), HasSubstr(absl::StrCat(streams)));
  }
}

TEST_F(ComputeStreams, NoMoreAreMadeThanBranchesUse) {
  Make(Fork(), 16);
  EXPECT_THAT(Run({{"x", Floats({1}, {1})}}, {"s"}), ElementsAre(12)) << status_;
  EXPECT_EQ(device_.made_streams(), 2);
  EXPECT_EQ(other_.made_streams(), 1);
}

TEST_F(ComputeStreams, AChainStaysOnOne) {
  std::string text = Placeholder("x", kOne) + Node("r0", kAddOne, {"x"});
  for (int i = 1; i < 9; ++i)
    text += Node(absl::StrCat("r", i), kAddOne, {absl::StrCat("r", i - 1)});
  Make(text, 4);
  EXPECT_THAT(Run({{"x", Floats({1}, {1})}}, {"r8"}), ElementsAre(10)) << status_;
  EXPECT_THAT(log_, ElementsAre("h2d < compute", "d2h < compute"));
  EXPECT_EQ(device_.made_streams(), 1);
}

TEST_F(ComputeStreams, ResultsAndFeedsOfABranchNeedNoOtherStream) {
  Make(Placeholder("x", kOne) + Placeholder("y", kOne) + Node("a", kAddOne, {"x"}) +
           Node("b", kAddOne, {"a"}) + Node("c", kAddOne, {"y"}) + Node("d", kAddOne, {"c"}),
       2);
  EXPECT_THAT(Run({{"x", Floats({1}, {1})}, {"y", Floats({5}, {1})}}, {"b", "d"}),
              ElementsAre(3, 7))
      << status_;
  EXPECT_THAT(log_, ::testing::UnorderedElementsAre("h2d < compute", "d2h < compute",
                                                    "h2d < compute", "d2h < compute 1"));
}

TEST_F(ComputeStreams, AWaitCoversAllThatWasQueuedBefore) {
  // "c" and "s" wait for the first stream; "t" reads "b" from there, too, which "s" has waited for.
  Make(Fork() + Sum("t", {"s", "b", "c"}), 2);
  EXPECT_THAT(Run({{"x", Floats({1}, {1})}}, {"t"}), ElementsAre(12 + 2 * 3 + 3 * 3)) << status_;
  EXPECT_EQ(std::ranges::count(log_, "compute 1 < event of compute"), 2)
      << absl::StrJoin(log_, ", ");
  EXPECT_EQ(std::ranges::count(log_, "compute < event of compute 1"), 0)
      << absl::StrJoin(log_, ", ");
}

TEST_F(ComputeStreams, ControlEdgesAreWaits) {
  std::string chains = Placeholder("x", kOne) + Placeholder("y", kOne) + Node("b0", kAddOne, {"x"});
  for (int i = 1; i < 6; ++i)
    chains += Node(absl::StrCat("b", i), kAddOne, {absl::StrCat("b", i - 1)});
  chains += Node("c0", kAddOne, {"y"});
  for (int i = 1; i < 4; ++i)
    chains += Node(absl::StrCat("c", i), kAddOne, {absl::StrCat("c", i - 1)});
  struct Row {
    const char *what, *middle;
    std::vector<std::string> inputs;
    int waits;
  };
  const Row rows[] = {
      {"no edge", "", {"c3"}, 0},
      {"an edge", "", {"c3", "^b0"}, 1},
      {"through a node without a step",
       "node { name: 'n' op: 'NoOp' input: '^b0' } ",
       {"c3", "^n"},
       1},
  };
  for (const Row& row : rows) {
    Make(chains + row.middle + Node("d", kAddOne, row.inputs) + Node("e", kAddOne, {"d"}), 2);
    EXPECT_THAT(Run({{"x", Floats({1}, {1})}, {"y", Floats({5}, {1})}}, {"b5", "e"}),
                ElementsAre(7, 11))
        << status_;
    EXPECT_EQ(std::ranges::count(log_, "compute 1 < event of compute"), row.waits) << row.what;
  }
}

TEST_F(ComputeStreams, AnErrorInTheMiddleLeavesNothing) {
  for (const char* wait : {"compute 1 < event of compute", "d2h < compute 1"}) {
    Make(Fork(), 2);
    device_.set_fails_at(wait);
    Run({{"x", Floats({1}, {1})}}, {"s"});
    EXPECT_EQ(status_.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status_.message()), HasSubstr("no wait"));
    device_.set_fails_at("");
    EXPECT_THAT(Run({{"x", Floats({2}, {1})}}, {"s"}), ElementsAre(15)) << status_;
  }
}

TEST_F(ComputeStreams, ADeviceWithFewerStreamsServesAllTheSame) {
  device_.set_most_streams(2);
  std::string text = Placeholder("x", kOne);
  std::vector<std::string> ends;
  for (int i = 0; i < 4; ++i) {
    text += Node(absl::StrCat("a", i), kAddOne, {"x"}) +
            Node(absl::StrCat("b", i), kAddOne, {absl::StrCat("a", i)});
    ends.push_back(absl::StrCat("b", i));
  }
  Make(text + Sum("s", ends), 4);
  EXPECT_THAT(Run({{"x", Floats({1}, {1})}}, {"s"}), ElementsAre(30)) << status_;
  EXPECT_THAT(Plan({"x"}, {"s"}), Not(HasSubstr("compute 2")));
  device_.set_copies_between(false);
  Make(text + Sum("s", ends), 4);
  EXPECT_THAT(Run({{"x", Floats({1}, {1})}}, {"s"}), ElementsAre(30)) << status_;
  EXPECT_THAT(Plan({"x"}, {"s"}), Not(HasSubstr("compute 1")));
}

// A variable's value outlives the run, so it lies in memory of the first stream: also where a
// kernel hands memory of another stream on: "q" is on the first stream, as its result is assigned,
// and hands on that of the shorter branch, "c", which is on another.
TEST_F(ComputeStreams, VariablesKeepMemoryOfTheFirstStream) {
  const std::string lazy = "device: '/device:LAZY:0' ";
  const auto on_device = [&](std::string text) { return text.insert(text.find("op:"), lazy); };
  const std::string text =
      Placeholder("x", kOne) + on_device(testing::VarHandle("v", "v")) + Node("a", kAddOne, {"x"}) +
      Node("b", kAddOne, {"a"}) + Node("c", kAddOne, {"a"}) + Node("c2", kAddOne, {"c"}) +
      Node("b2", kPass, {"b"}) + Node("b3", kPass, {"b2"}) + Node("b4", kPass, {"b3"}) +
      Node("p", kPass, {"c2"}) + Node("q", kPass, {"p"}) + Sum("s", {"b4", "c2"}) +
      on_device(testing::Op("assign", "AssignVariableOp", {"v", "q"},
                            testing::Type("dtype", "DT_FLOAT"))) +
      on_device(testing::Op("read", "ReadVariableOp", {"v"}, testing::Type("dtype", "DT_FLOAT"))) +
      Node("r1", kAddOne, {"read"}) + Node("r2", kScratch, {"read"}) + Node("r3", kAddOne, {"r2"}) +
      Sum("t", {"r1", "r3"});
  for (const int streams : {1, 2, 3}) {
    Make(text, streams);
    for (int i = 0; i < 20; ++i) {
      device_.set_seed(static_cast<uint32_t>(i));
      const auto x = static_cast<float>(i);
      EXPECT_THAT(Run({{"x", Floats({x}, {1})}}, {"s", "assign"}), ElementsAre(x + 2 + 2 * (x + 3)))
          << status_;
      EXPECT_THAT(Run({}, {"t"}), ElementsAre(x + 4 + 2 * (x + 5))) << streams << ": " << status_;
    }
    EXPECT_EQ(device_.copies_within() > 0, streams > 1) << "what is handed on is copied";
  }
}

// Graphs at random: what the device answers with one stream it answers with several, in any order
// of their work, run after run.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {
    text_ = Placeholder("x", kOne) + Placeholder("y", "dim { size: 1 }") +
            Placeholder("p", "", "DT_BOOL") +
            Const("k", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 3");
    values_ = {"x", "y", "k"};
    const int nodes = 4 + Random(40);
    for (int i = 0; i < nodes; ++i) Add(absl::StrCat("n", i));
    for (int i = 0; i < 3; ++i) fetches_.push_back(values_[values_.size() - 1 - Random(6)]);
    fetches_.push_back(values_.back());
  }
  const std::string& text() const { return text_; }
  const std::vector<std::string>& fetches() const { return fetches_; }

 private:
  int Random(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  // Mostly a late one, so that there are chains.
  std::string Value() {
    const int n = static_cast<int>(values_.size());
    return values_[n - 1 - Random(Random(3) == 0 ? n : std::min(n, 5))];
  }
  std::vector<std::string> After(std::vector<std::string> inputs) {
    if (Random(6) == 0)
      inputs.push_back("^" + values_[3 + Random(static_cast<int>(values_.size()) - 3)]);
    return inputs;
  }
  void Add(const std::string& name) {
    const bool first = values_.size() == 3;
    const int kind = Random(first ? 4 : 16);
    if (kind < 4) {
      text_ += Node(name, kAddOne, first ? std::vector{Value()} : After({Value()}));
    } else if (kind < 6) {
      text_ += Node(name, kScratch, After({Value()}));
    } else if (kind < 8) {
      text_ += Node(name, kPass, After({Value()}));
    } else if (kind < 12) {
      text_ += Sum(name, After(Random(2) == 0 ? std::vector{Value(), Value()}
                                              : std::vector{Value(), Value(), Value()}));
    } else if (kind == 12) {
      std::string node = Node(name, kAddOne, {Value()});
      text_ += node.insert(node.find("input"), "device: '/device:LAZY:1' ");
    } else if (kind == 13) {
      text_ += Node(name, "Neg", After({Value()}));
    } else if (kind == 14) {
      text_ += Node(name, "Identity", {Value()});
    } else {
      AddBranch(name);
    }
    values_.push_back(name);
  }
  void AddBranch(const std::string& name) {
    text_ += Node(name + "_s", "Switch", {Value(), "p"}) +
             Node(name + "_f", kAddOne, {name + "_s"}) + Sum(name + "_g", {name + "_f", Value()}) +
             Node(name + "_t", kScratch, {name + "_s:1"}) +
             Node(name, "Merge", {name + "_g", name + "_t"}, "attr { key: 'N' value { i: 2 } }");
  }

  std::minstd_rand random_;
  std::string text_;
  std::vector<std::string> values_, fetches_;
};

TEST_F(ComputeStreams, RandomGraphsAnswerAlike) {
  int spread = 0;
  for (uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    const RandomGraph graph(seed);
    const auto feeds = [](int run) {
      const auto x = static_cast<float>(run);
      return std::vector<Session::NamedTensor>{
          {"x", Floats({x + 1}, {1})}, {"y", Floats({-x}, {1})}, {"p", Bool(run % 2 == 0)}};
    };
    std::vector<std::vector<float>> expected;
    Make(graph.text(), 1);
    for (int run = 0; run < 4; ++run) {
      expected.push_back(Run(feeds(run), graph.fetches()));
      ASSERT_TRUE(status_.ok()) << status_ << graph.text();
    }
    for (const int streams : {2, 3, 5}) {
      Make(graph.text(), streams);
      device_.set_seed(seed);
      for (int run = 0; run < 4; ++run) {
        const std::vector<float> values = Run(feeds(run), graph.fetches());
        EXPECT_EQ(values, expected[run]) << "seed " << seed << ", " << streams << " streams, run "
                                         << run << ": " << status_ << "\n"
                                         << absl::StrJoin(graph.fetches(), " ") << "\n"
                                         << graph.text();
      }
      spread += absl::StrContains(absl::StrJoin(log_, ","), "compute 1") ? 1 : 0;
    }
    session_.reset();
  }
  EXPECT_GT(spread, 200);
}

}  // namespace
}  // namespace tenon::compute_streams_test
