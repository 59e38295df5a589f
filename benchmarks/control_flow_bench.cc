// What a pass of a scalar loop, an If and a call cost, optimizer off, one thread. Calls are inlined: a
// call costs what its nodes cost. dispatch_ratios.py runs such graphs beside TensorFlow.
#include <benchmark/benchmark.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "executor/session/session.h"
#include "graph/io/io.h"

namespace tenon {
namespace {

constexpr char kPlaceholder[] =
    "node { name: '$0' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { "
    "key: "
    "'shape' value { shape { } } } }\n";

// Functions of floats: the loop's, one branch each, one to be called.
constexpr char kLibrary[] = R"(library {
  function { signature { name: 'less' input_arg { name: 'i' type: DT_FLOAT }
                         input_arg { name: 'n' type: DT_FLOAT } output_arg { name: 'r' type: DT_BOOL } }
    node_def { name: 'l' op: 'Less' input: 'i' input: 'n' attr { key: 'T' value { type: DT_FLOAT } } }
    ret { key: 'r' value: 'l:z:0' } }
  function { signature { name: 'next' input_arg { name: 'i' type: DT_FLOAT }
                         input_arg { name: 'n' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT }
                         output_arg { name: 's' type: DT_FLOAT } }
    node_def { name: 'one' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
               attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }
    node_def { name: 'a' op: 'AddV2' input: 'i' input: 'one:output:0'
               attr { key: 'T' value { type: DT_FLOAT } } }
    ret { key: 'r' value: 'a:z:0' } ret { key: 's' value: 'n' } }
  function { signature { name: 'plus' input_arg { name: 'a' type: DT_FLOAT }
                         input_arg { name: 'b' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }
    node_def { name: 's' op: 'AddV2' input: 'a' input: 'b' attr { key: 'T' value { type: DT_FLOAT } } }
    ret { key: 'r' value: 's:z:0' } }
  function { signature { name: 'minus' input_arg { name: 'a' type: DT_FLOAT }
                         input_arg { name: 'b' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }
    node_def { name: 's' op: 'Sub' input: 'a' input: 'b' attr { key: 'T' value { type: DT_FLOAT } } }
    ret { key: 'r' value: 's:z:0' } }
})";

constexpr char kTypes[] =
    "attr { key: 'Tin' value { list { type: [DT_FLOAT, DT_FLOAT] } } } attr { key: 'Tout' value { "
    "list { type: DT_FLOAT } } } ";
constexpr char kFunc[] = "attr { key: '$0' value { func { name: '$1' } } } ";

void Run(benchmark::State& state, std::string nodes, const std::string& fetch, float x, float y) {
  std::string text = absl::Substitute(kPlaceholder, "x") + absl::Substitute(kPlaceholder, "y");
  auto imported = ImportBytes(text + nodes + kLibrary, "bench.pbtxt");
  if (!imported.ok()) return state.SkipWithError(std::string(imported.status().message()).c_str());
  SessionOptions options;
  options.opt_level = 0;
  options.threads = 1;
  auto session = *Session::Create(std::move(imported->graph), {}, options);
  auto executable = session->Prepare({"x", "y"}, {fetch});
  if (!executable.ok())
    return state.SkipWithError(std::string(executable.status().message()).c_str());
  const std::vector<Tensor> feeds = {Tensor::CopyOf(DataType::kFloat, {}, &x, sizeof(x)),
                                     Tensor::CopyOf(DataType::kFloat, {}, &y, sizeof(y))};
  for (auto _ : state) {
    auto out = session->Run(*executable, feeds);
    if (!out.ok()) return state.SkipWithError(std::string(out.status().message()).c_str());
    benchmark::DoNotOptimize(out);
  }
  state.counters["ns_each"] = benchmark::Counter(
      static_cast<double>(state.range(0)) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// x counts to y.
void Passes(benchmark::State& state) {
  const std::string loop = absl::StrCat(
      "node { name: 'loop' op: 'StatelessWhile' input: ['x', 'y'] attr { key: 'T' value { list { "
      "type: [DT_FLOAT, DT_FLOAT] } } } ",
      absl::Substitute(kFunc, "cond", "less"), absl::Substitute(kFunc, "body", "next"), "}\n");
  Run(state, loop, "loop:0", 0, static_cast<float>(state.range(0)));
}
BENCHMARK(Passes)->Arg(1000)->Arg(1000000)->Unit(benchmark::kMicrosecond);

// A chain of nodes of one op.
std::string Chain(int64_t count, std::string_view op, std::string_view attrs) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    absl::StrAppend(&text, "node { name: 'n", i, "' op: '", op, "' input: '",
                    i == 0 ? "x" : absl::StrCat("n", i - 1), "' input: 'y' ", attrs, "}\n");
  }
  return text;
}

void Ifs(benchmark::State& state) {
  const std::string decide =
      "node { name: 'p' op: 'Less' input: 'x' input: 'y' attr { key: 'T' value { type: DT_FLOAT } "
      "} "
      "}\n";
  // Each has a choice of its own, so that none is shared.
  std::string text = decide;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const std::string before = i == 0 ? "x" : absl::StrCat("n", i - 1);
    absl::StrAppend(&text, "node { name: 'p", i, "' op: 'LogicalNot' input: '",
                    i == 0 ? "p" : absl::StrCat("p", i - 1), "' }\n", "node { name: 'n", i,
                    "' op: 'StatelessIf' input: ['p", i, "', '", before, "', 'y'] ", kTypes,
                    "attr { key: 'Tcond' value { type: DT_BOOL } } ",
                    absl::Substitute(kFunc, "then_branch", "plus"),
                    absl::Substitute(kFunc, "else_branch", "minus"), "}\n");
  }
  Run(state, text, absl::StrCat("n", state.range(0) - 1), 1, 2);
}
BENCHMARK(Ifs)->Arg(1000)->Unit(benchmark::kMicrosecond);

void Calls(benchmark::State& state) {
  Run(state,
      Chain(state.range(0), "PartitionedCall",
            absl::StrCat(kTypes, absl::Substitute(kFunc, "f", "plus"))),
      absl::StrCat("n", state.range(0) - 1), 1, 2);
}
BENCHMARK(Calls)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tenon
