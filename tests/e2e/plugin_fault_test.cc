// Plug-ins that fail, crash, hang or leave: the user is told which, where and why, and the exit
// code says so.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HAS_EXIT_HOOK
#define HAS_HANDLE_STOCK
#endif

constexpr char kShapeCall[] = "shape_inference_func of node 'the_node'";
constexpr char kDeferredCall[] = "the deferred work of compute_func of node 'the_node'";

std::string RogueGraph() {
  return TempFile("rogue.pbtxt", "node { name: \"the_node\" op: \"RogueOp\" }\n");
}

// How often `text` says `word`.
int Times(const std::string& text, std::string_view word) {
  int times = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++times;
  return times;
}

struct Fault {
  std::string kind;
  int exit;
  std::string callback, says;
};

class Faults : public ::testing::TestWithParam<Fault> {};

TEST_P(Faults, AreBlamedOnThePlugin) {
  const Fault& fault = GetParam();
  const std::string plugin = TestPlugin("rogue");
  std::vector<std::string> args = {"run", RogueGraph(), "--json", "--plugin",
                                   plugin + ";ROGUE=" + fault.kind};
  if (fault.exit == 6) args.insert(args.end(), {"--timeout", "2"});
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, fault.exit) << run.err;
  EXPECT_THAT(run.err, HasSubstr("librogue.so"));
  EXPECT_THAT(run.err, HasSubstr(fault.callback));
  EXPECT_THAT(run.err, HasSubstr(fault.says));
  if (fault.exit == 1) {
    EXPECT_EQ(Times(run.err, "librogue.so"), 1) << run.err;
  }
  if (fault.exit == 1 || fault.callback.starts_with("compute")) {
    EXPECT_THAT(run.err, HasSubstr("the_node"));
  }
  const json doc = json::parse(run.out, nullptr, false);
  ASSERT_FALSE(doc.is_discarded()) << run.out;
  EXPECT_EQ(doc["command"], "run");
  EXPECT_NE(doc["status"]["code"], "OK");
}

INSTANTIATE_TEST_SUITE_P(
    All, Faults,
    ::testing::Values(
        Fault{"load_segv", 5, "dlopen", "SIGSEGV"}, Fault{"load_abort", 5, "dlopen", "SIGABRT"},
        Fault{"load_throw", 5, "dlopen", "threw an exception that nothing caught (rogue)"},
        Fault{"load_close", 5, "librogue.so", "closed standard output and standard error"},
        Fault{"load_close_all", 5, "librogue.so", "closed standard output and standard error"},
        Fault{"compute_close", 5, "librogue.so", "closed standard output and standard error"},
        Fault{"load_exit", 5, "dlopen", "exit()"}, Fault{"load_hang", 6, "dlopen", "2 s"},
#ifdef HAS_EXIT_HOOK
        Fault{"load_quit", 5, "dlopen", "_exit()"},
#endif
        Fault{"load_thread_exit", 5, "thread", "exit()"},
        Fault{"init_segv", 5, "TF_InitKernel", "SIGSEGV"},
        Fault{"init_exit", 5, "TF_InitKernel", "exit()"},
        Fault{"init_hang", 6, "TF_InitKernel", "2 s"},
        Fault{"compute_segv", 5, "compute", "SIGSEGV"},
        Fault{"compute_bus", 5, "compute", "SIGBUS"}, Fault{"compute_fpe", 5, "compute", "SIGFPE"},
        Fault{"compute_ill", 5, "compute", "SIGILL (a trap that its compiler put there, ud2)"},
        Fault{"compute_avx512", 5, "compute", "AVX-512"},
        Fault{"compute_abort", 5, "compute", "SIGABRT"}, Fault{"compute_hang", 6, "compute", "2 s"},
        Fault{"compute_overflow", 5, "compute", "SIGSEGV"},
        Fault{"compute_joinable", 5, "compute", "std::terminate() was called"},
        Fault{"compute_user_signal", 5, "compute", "SIGUSR1"},
        Fault{"compute_alarm", 5, "compute", "SIGALRM"},
        Fault{"compute_end_thread", 5, "compute", "pthread_exit() or pthread_cancel()"},
        Fault{"tensor_segv", 5, "tensor deallocator of node 'the_node'", "SIGSEGV"},
#ifdef HAS_HANDLE_STOCK
        Fault{"set_twice_deleted", 5, "compute", "SIGABRT"},
        Fault{"compute_freed", 5, "compute_func of node 'the_node'", "SIGABRT"},
        Fault{"tensor_freed", 5, "tensor deallocator of node 'the_node'", "SIGABRT"},
        Fault{"computed_heap", 5, "after compute_func",
              "SIGABRT (abort) where the host takes or gives back memory: the heap is damaged"},
#endif
#ifdef HAS_EXIT_HOOK
        Fault{"compute_quit", 5, "compute", "_exit()"},
        Fault{"compute_exec", 5, "compute", "execve() was called"},
        Fault{"compute_unheard_segv", 5, "compute", "SIGSEGV"},
#endif
        Fault{"shape_segv", 5, kShapeCall, "SIGSEGV"},
        Fault{"init_thread_segv", 5, "thread", "SIGSEGV"},
        Fault{"compute_thread_exit", 5, "thread", "exit()"},
        Fault{"deferred_segv", 5, "thread", "SIGSEGV"},
        Fault{"deferred_memcpy", 5, "thread", "SIGSEGV"},
        Fault{"deferred_abort", 5, "thread", "SIGABRT"},
        Fault{"deferred_throw", 5, "thread", "threw an exception that nothing caught (rogue)"},
        Fault{"deferred_exit", 5, "thread", "exit()"},
        Fault{"deferred_hang", 6, kDeferredCall, "2 s"},
        Fault{"shape_throw", 5, "shape_inference_func", "threw an exception: rogue"},
        Fault{"shape_attr", 5, "shape_inference_func", "No attr named 'no_such_attr' in NodeDef"},
        Fault{"shape_refuse", 4, "shape_inference_func of plug-in", "not so"},
        Fault{"set_no_data", 1, "RogueOp", "output 0 cannot be set to a NULL tensor"},
        Fault{"set_other_type", 1, "RogueOp",
              "Output 0 of type int32 does not match declared "
              "output type float for node {{node the_node}}"},
        Fault{"compute_throw", 1, "compute_func", "threw an exception: rogue"},
        Fault{"compute_fail", 1, "RogueOp", "the board is on fire"}),
    [](const auto& info) { return info.param.kind; });

// Which of the plug-in's functions were called, as far as it exports them, and what addr2line
// takes.
TEST(PluginFaults, SayWhereInTheLibrary) {
  const auto line_of = [](const std::string& kind) {
    return GraphRun({"run", RogueGraph(), "--plugin", TestPlugin("rogue") + ";ROGUE=" + kind}).err;
  };
  EXPECT_THAT(line_of("init_segv"),
              ContainsRegex("in TF_InitKernel \\(at librogue.so\\+0x[0-9a-f]+, called by .*"
                            "librogue.so\\+0x[0-9a-f]+ \\(TF_InitKernel\\+0x[0-9a-f]+\\)\\)\n"));
  // Through the C library (or the sanitizer's abort, which calls it), and in a constructor, whose
  // callers are the system's.
  EXPECT_THAT(line_of("load_abort"),
              ContainsRegex("in dlopen \\(at libc.so.6\\+0x[^,]*, called by .*"
                            "\\(abort\\+0x[0-9a-f]+\\), librogue.so\\+0x[0-9a-f]+[^,]*"
                            "(, librogue.so\\+0x[0-9a-f]+)*\\)\n"));
}

// Five nodes: the optimizer leaves smaller graphs alone.
std::string PassGraph() {
  const auto node = [](const std::string& name, const std::string& op, const std::string& input) {
    return "node { name: \"" + name + "\" op: \"" + op + "\" input: \"" + input +
           "\" attr { key: \"T\" value { type: DT_HALF } } }\n";
  };
  return TempFile("pass.pbtxt",
                  "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: "
                  "DT_FLOAT } } attr { key: \"shape\" value { shape { dim { size: 3 } } } } }\n"
                  "node { name: \"half\" op: \"Cast\" input: \"x\" attr { key: \"SrcT\" value { "
                  "type: DT_FLOAT } } attr { key: \"DstT\" value { type: DT_HALF } } }\n" +
                      node("a", "Neg", "half") + node("b", "Exp", "a") + node("y", "Relu", "b"));
}

// Those of a pass that is whole in itself.
TEST(PluginPasses, ThatLoseWhatMustStayOrBlowUpAreRolledBack) {
  const auto node = [](const std::string& name, const std::string& op, const std::string& input,
                       const std::string& attr = "") {
    return "node { name: '" + name + "' op: '" + op + "' input: '" + input +
           "' attr { key: 'T' value { type: DT_FLOAT } } " + attr + "}\n";
  };
  const std::string graph = TempFile(
      "kept.pbtxt",
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n" +
          node("kept", "Exp", "x", "attr { key: '_grappler_do_not_remove' value { b: true } }") +
          node("a", "Exp", "x") + node("b", "Floor", "a") + node("y", "Neg", "b"));
  const auto run = [&](const std::string& plugin, const std::string& errors) {
    return GraphRun({"run", graph, "--input", "x=1xf32=1", "--output", "y", "--plugin",
                     TestPlugin(plugin), "--plugin-errors=" + errors});
  };
  for (const auto& [plugin, says] :
       {std::pair{"drops_kept", "node 'kept', which is to be preserved, is gone"},
        std::pair{"blows_up", "its answer has 20005 nodes where 5 were"}}) {
    const Finished reported = run(plugin, "report"), failed = run(plugin, "fail");
    EXPECT_EQ(reported.exit, 0) << reported.err;
    EXPECT_EQ(failed.exit, 5) << failed.err;
    for (const Finished* finished : {&reported, &failed})
      EXPECT_THAT(finished->err, HasSubstr(says));
  }
  // This may be right, for all that the host knows.
  const Finished changed = run("changes_fetch", "fail");
  EXPECT_EQ(changed.exit, 0) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("fetch 'y:0' was computed by Neg and is by Abs now"));
}

// An initializer and a step of training give nothing, and are fetched to be run.
TEST(PluginPasses, SeeWhatIsOnlyRun) {
  const std::string graph = TempFile(
      "train.pbtxt",
      "node { name: 'v' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'shape' value { shape { } } } } "
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'value' value { tensor { dtype: DT_FLOAT float_val: 2 } } } } "
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
      "node { name: 'set' op: 'AssignVariableOp' input: ['v', 'c'] "
      "attr { key: 'dtype' value { type: DT_FLOAT } } } "
      "node { name: 'a' op: 'Exp' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } } "
      "node { name: 'b' op: 'Floor' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } } "
      "node { name: 'add' op: 'AssignAddVariableOp' input: ['v', 'b'] "
      "attr { key: 'dtype' value { type: DT_FLOAT } } } "
      "node { name: 'train' op: 'NoOp' input: '^add' }");
  const auto run = [&](const std::string& plugin) {
    return GraphRun({"run", graph, "--init", "set", "--input", "x=f32=0", "--output", "train",
                     "--json", "--time-passes", "--plugin", TestPlugin(plugin),
                     "--plugin-errors=fail"});
  };
  const Finished good = run("pass_one");
  EXPECT_EQ(good.exit, 0) << good.err;
  bool changed = false;
  const json doc = json::parse(good.out);
  for (const json& pass : doc["passes"]) changed |= pass["name"] == "plugin:CPU" && pass["changed"];
  EXPECT_TRUE(changed) << good.out;
  const Finished bad = run("drops_train");
  EXPECT_EQ(bad.exit, 5);
  EXPECT_THAT(bad.err, HasSubstr("fetch 'train' is gone"));
}

// As in TensorFlow, a pass sees interfaces of functions, and has no say in what they are.
TEST(PluginPasses, NeedNotGiveBackTheLibrary) {
  const std::string graph = TempFile("library.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
      node { name: 'a' op: 'Exp' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'call' op: 'f' input: 'a' }
      node { name: 'y' op: 'Floor' input: 'call' attr { key: 'T' value { type: DT_FLOAT } } }
      library { function {
        signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT }
                    output_arg { name: 'r' type: DT_FLOAT } }
        attr { key: '_noinline' value { b: true } }
        node_def { name: 'neg' op: 'Neg' input: 'a'
                   attr { key: 'T' value { type: DT_FLOAT } } }
        ret { key: 'r' value: 'neg:y:0' } } })");
  const Finished run =
      GraphRun({"run", graph, "--input", "x=f32=0", "--output", "y", "--expect", "y=f32=-1",
                "--plugin", TestPlugin("drops_library"), "--plugin-errors=fail"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

// What brings variables back runs before the cases.
TEST(PluginPasses, ThatFailBeforeCasesAreTold) {
  const std::string folder = Golden("saved_models/affine_state/");
  for (const auto& [errors, exit] : {std::pair{"report", 0}, std::pair{"fail", 5}}) {
    const Finished run =
        GraphRun({"run", folder + "model", "--cases", folder + "cases.json", "--plugin",
                  TestPlugin("blows_up"), std::string("--plugin-errors=") + errors});
    EXPECT_EQ(run.exit, exit) << run.err;
    EXPECT_THAT(run.err, HasSubstr("pass plugin:CPU: rolled back: its answer has 200"));
  }
}

// What an attribute of a plug-in's op names is for the plug-in to know; what a call of the host's
// names must be there when the call runs.
TEST(Plugins, NamesInAttributesAreLookedUpByWhoNeedsThem) {
  const std::string graph = TempFile("names.pbtxt", R"(
      node { name: 'named' op: 'RogueNamed'
             attr { key: 'f' value { func { name: 'nowhere' } } }
             attr { key: 'numbers' value { } } }
      node { name: 'call' op: 'PartitionedCall' input: 'named'
             attr { key: 'f' value { func { name: 'nowhere' } } }
             attr { key: 'Tin' value { list { type: DT_FLOAT } } }
             attr { key: 'Tout' value { list { type: DT_FLOAT } } } }
      node { name: 'y' op: 'Neg' input: 'named' attr { key: 'T' value { type: DT_FLOAT } } })");
  const auto run = [&](const std::string& fetch) {
    return GraphRun({"run", graph, "--output", fetch, "--plugin", TestPlugin("rogue")});
  };
  for (const char* fetch : {"y", "named"}) {
    const Finished finished = run(fetch);
    EXPECT_EQ(finished.exit, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("42")) << fetch;
  }
  const Finished call = run("call");
  EXPECT_EQ(call.exit, 1) << call.err;
  EXPECT_THAT(call.err, HasSubstr("node 'call' (PartitionedCall)"));
  EXPECT_THAT(call.err, HasSubstr("no function is named 'nowhere'"));
  const Finished lint = GraphRun({"lint", graph, "--plugin", TestPlugin("rogue")});
  EXPECT_THAT(lint.out + lint.err, HasSubstr("node 'call' (PartitionedCall): attribute 'f'"));
  EXPECT_THAT(lint.out + lint.err, Not(HasSubstr("node 'named'")));
}

TEST(PluginPasses, ThatFailBeforeTheRunsAreToldToo) {
  const auto node = [](const std::string& name, const std::string& op, const std::string& inputs,
                       const std::string& type) {
    return "node { name: '" + name + "' op: '" + op + "' " + inputs + " attr { key: '" + type +
           "' value { type: DT_FLOAT } } }\n";
  };
  const std::string graph = TempFile(
      "init.pbtxt",
      node("v", "VarHandleOp", "attr { key: 'shape' value { shape { } } }", "dtype") +
          node("c", "Const",
               "attr { key: 'value' value { tensor { dtype: DT_FLOAT float_val: 2 } } }", "dtype") +
          node("a", "Exp", "input: 'c'", "T") + node("b", "Floor", "input: 'a'", "T") +
          node("set", "AssignVariableOp", "input: ['v', 'b']", "dtype") +
          node("get", "ReadVariableOp", "input: 'v'", "dtype"));
  for (const auto& [errors, exit] : {std::pair{"report", 0}, std::pair{"fail", 5}}) {
    // The graph of the run itself is too small for passes.
    const Finished run =
        GraphRun({"run", graph, "--init", "set", "--output", "get", "--expect", "get=7", "--plugin",
                  TestPlugin("blows_up"), std::string("--plugin-errors=") + errors});
    EXPECT_EQ(run.exit, exit) << run.err;
    EXPECT_THAT(run.err, HasSubstr("pass plugin:CPU: rolled back: its answer has 2000"));
  }
}

class PassFaults : public ::testing::TestWithParam<const char*> {};

// What a plug-in does when all is done does not take the result back.
TEST(PluginFaults, AtTheEndOfTheProcessKeepTheExitCode) {
  for (const char* kind : {"end_segv", "end_hang", "end_exit"}) {
    const Finished run = GraphRun({"run", RogueGraph(), "--json", "--timeout", "3", "--plugin",
                                   TestPlugin("rogue") + ";ROGUE=" + kind});
    EXPECT_EQ(run.exit, 0) << kind << run.err;
    const json doc = json::parse(run.out, nullptr, false);
    ASSERT_FALSE(doc.is_discarded()) << kind << run.out;
    EXPECT_EQ(doc["status"]["code"], "OK");
    if (std::string_view(kind) != "end_exit") {
      EXPECT_THAT(run.err, HasSubstr("librogue.so")) << kind;
      EXPECT_THAT(run.err, HasSubstr("when the process ends")) << kind;
    }
  }
}

#ifdef HAS_EXIT_HOOK
TEST(PluginFaults, ThatAPluginHandlesItselfAreNone) {
  const Finished run = GraphRun(
      {"run", RogueGraph(), "--plugin", TestPlugin("rogue") + ";ROGUE=compute_handled_segv"});
  EXPECT_EQ(run.exit, 0) << run.err;
}
#endif

TEST(PluginFaults, AProgramThatAPluginStartsGetsAllItsArguments) {
  const Finished run =
      GraphRun({"run", RogueGraph(), "--plugin", TestPlugin("rogue") + ";ROGUE=compute_child"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(PluginFaults, RoundingIsSetBack) {
  const std::string graph = TempFile(
      "round.pbtxt",
      "node { name: 'the_node' op: 'RogueOp' } "
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
      "node { name: 'y' op: 'Reciprocal' input: 'x' input: '^the_node' "
      "attr { key: 'T' value { type: DT_FLOAT } } }");
  for (const char* kind : {"compute_round", "load_round", "init_round"}) {
    const Finished run =
        GraphRun({"run", graph, "--input", "x=1xf32=3", "--output", "y", "--expect",
                  "y=1xf32=0.3333333432674408", "--rtol", "0", "--atol", "0", "--plugin",
                  TestPlugin("rogue") + ";ROGUE=" + kind});
    EXPECT_EQ(run.exit, 0) << kind << run.out << run.err;
    EXPECT_THAT(run.err, HasSubstr("changed how floats are rounded")) << kind;
  }
}

TEST_P(PassFaults, AreRolledBackOrFail) {
  const std::string plugin = TestPlugin("rogue") + ";ROGUE=" + GetParam();
  std::vector<std::string> args = {"run",      PassGraph(), "--input",  "x=3xf32=0",
                                   "--expect", "y=3xf16=1", "--plugin", plugin};
  const Finished reported = GraphRun(args);
  EXPECT_EQ(reported.exit, 0) << reported.err;
  EXPECT_THAT(reported.err, HasSubstr("warning: pass plugin:CPU: rolled back: "));
  EXPECT_THAT(reported.err, HasSubstr("librogue.so"));
  args.push_back("--plugin-errors=fail");
  const Finished failed = GraphRun(args);
  EXPECT_EQ(failed.exit, 5) << failed.err;
  EXPECT_THAT(failed.err, HasSubstr("rolled back: "));
}

INSTANTIATE_TEST_SUITE_P(All, PassFaults,
                         ::testing::Values("pass_garbage", "pass_job", "pass_ordinal", "pass_dtype",
                                           "pass_shape", "pass_long"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Plugins, AnAnswerThatIsNowhereIsTheirFault) {
  const Finished run = GraphRun({"run", PassGraph(), "--input", "x=3xf32=0", "--json", "--plugin",
                                 TestPlugin("rogue") + ";ROGUE=pass_nowhere"});
  EXPECT_EQ(run.exit, 5) << run.err;
  EXPECT_THAT(run.err, HasSubstr("librogue.so: SIGSEGV"));
  EXPECT_THAT(run.err, HasSubstr("in the answer of optimize_func"));
  EXPECT_EQ(json::parse(run.out, nullptr, false)["status"]["code"], "INTERNAL") << run.out;
}

#ifdef HAS_HANDLE_STOCK
TEST(Plugins, MemoryThatIsGivenBackTwiceIsTheirFault) {
  const auto run = [](const std::string& kind) {
    return GraphRun({"run", PassGraph(), "--input", "x=3xf32=0", "--json", "--plugin",
                     TestPlugin("rogue") + ";ROGUE=" + kind});
  };
  // The second time is the host's own, or that of whoever got the memory meanwhile.
  for (const auto& [kind, says] : {std::pair{"pass_freed", ": SIGABRT (abort) in data_deallocator"},
                                   std::pair{"pass_frees_input", "librogue.so: SIG"}}) {
    const Finished finished = run(kind);
    EXPECT_EQ(finished.exit, 5) << kind << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("librogue.so: SIG")) << kind;
    EXPECT_THAT(finished.err, HasSubstr(says)) << kind;
    EXPECT_EQ(json::parse(finished.out, nullptr, false)["status"]["code"], "INTERNAL") << kind;
  }
}
#endif

// Of a pass that ends the process too there is a graph, and a script that does it again.
TEST(Plugins, APassThatEndsTheProcessLeavesWhatItWasGiven) {
  const std::string folder = TempPath("ended");
  std::filesystem::create_directories(folder);
  const Finished run = GraphRun({"run", PassGraph(), "--input", "x=3xf32=0", "--dump-dir", folder,
                                 "--plugin", TestPlugin("rogue") + ";ROGUE=pass_nowhere"});
  EXPECT_EQ(run.exit, 5) << run.err;
  const size_t at = run.err.find(folder + "/graph_run_");
  ASSERT_NE(at, std::string::npos) << run.err;
  const std::string script = run.err.substr(at, run.err.find(" runs the pass again", at) - at);
  EXPECT_EQ(GraphRun({"lint", script.substr(0, script.size() - 3) + ".pb"}).exit, 0);
  EXPECT_THAT(ReadFile(script), HasSubstr("\nexport ROGUE='pass_nowhere'\n"));
  EXPECT_EQ(WEXITSTATUS(std::system((script + " > /dev/null 2>&1").c_str())), 5);
}

// However often it fails: one graph and one script for each pass and graph, with the variables that
// the plug-in reads.
TEST(Plugins, APassThatFailsLeavesOnePairOfFiles) {
  const std::string folder = TempPath("failed_often");
  for (const char* kind : {"pass_garbage", "pass_garbage", "pass_nowhere", "pass_nowhere"}) {
    std::filesystem::create_directories(folder);
    GraphRun({{"run", PassGraph(), "--input", "x=3xf32=0", "--plugin", TestPlugin("rogue")},
              "",
              {{"TMPDIR", folder}, {"ROGUE", kind}, {"UNHEARD", "of"}, {"TENON_NONE", "it's"}}});
  }
  int graphs = 0, scripts = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    graphs += file.path().extension() == ".pb";
    scripts += file.path().extension() == ".sh";
    if (file.path().extension() != ".sh") continue;
    const std::string script = ReadFile(file.path());
    EXPECT_THAT(script, HasSubstr("\nexport ROGUE='pass_"));
    EXPECT_THAT(script, HasSubstr("\nexport TENON_NONE='it'\\''s'\n"));
    EXPECT_THAT(script, Not(HasSubstr("UNHEARD")));
  }
  // A pass that ends the process leaves the graph as it saw it, with all attributes.
  EXPECT_LE(graphs, 2);
  EXPECT_EQ(graphs, scripts);
  EXPECT_GE(graphs, 1);
}

// Nobody is left to return these errors to.
struct Dropped {
  std::string kind, callback;
};
class DroppedFaults : public ::testing::TestWithParam<Dropped> {};

TEST_P(DroppedFaults, AreWarnings) {
  const std::string plugin = TestPlugin("rogue") + ";ROGUE=" + GetParam().kind;
  const bool pass =
      GetParam().callback == "destroy_func" || GetParam().callback == "data_deallocator";
  std::vector<std::string> args = {"run", pass ? PassGraph() : RogueGraph(), "--plugin", plugin};
  if (pass) args.insert(args.end(), {"--input", "x=3xf32=0"});
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: " + GetParam().callback + " of plug-in "));
  EXPECT_THAT(run.err, HasSubstr("librogue.so threw an exception: rogue"));
  args.push_back("--quiet");
  EXPECT_THAT(GraphRun(args).err, Not(HasSubstr("warning")));
}

INSTANTIATE_TEST_SUITE_P(All, DroppedFaults,
                         ::testing::Values(Dropped{"delete_throw", "delete_func"},
                                           Dropped{"tensor_throw", "tensor deallocator"},
                                           Dropped{"destroy_throw", "destroy_func"},
                                           Dropped{"deallocator_throw", "data_deallocator"}),
                         [](const auto& info) { return info.param.kind; });

TEST(Plugins, FailuresOfDevicesThatNobodyReturnsAreWarnings) {
  const Finished count = GraphRun({"devices", "--plugin", TestPlugin("count_fails")});
  EXPECT_EQ(count.exit, 0) << count.err;
  EXPECT_THAT(count.err, HasSubstr("warning: plug-in "));
  EXPECT_THAT(count.err, HasSubstr("get_device_count failed: UNAVAILABLE: no bus"));
  const Finished destroy = GraphRun({"devices", "--plugin", TestPlugin("destroy_throws")});
  EXPECT_EQ(destroy.exit, 0) << destroy.err;
  EXPECT_THAT(destroy.err, HasSubstr("warning: destroy_device of plug-in "));
  EXPECT_THAT(destroy.err, HasSubstr("from destroy_device"));
}

TEST(Plugins, ThatBehaveRun) {
  const Finished run = GraphRun(
      {"run", RogueGraph(), "--plugin", TestPlugin("rogue"), "--expect", "the_node=f32=42"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(Plugins, ThatPrintDoNotSpoilTheDocument) {
  const Finished run = GraphRun({"run", RogueGraph(), "--plugin", TestPlugin("rogue"), "--json"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(json::parse(run.out, nullptr, false)["status"]["code"], "OK") << run.out;
  EXPECT_THAT(run.err, HasSubstr("a plug-in that talks"));
}

TEST(Check, ACrashTakesOnlyItsCase) {
  const std::string cases =
      TempFile("RogueOp.pbtxt",
               "node { name: \"c000/op\" op: \"RogueOp\" }\n"
               "node { name: \"c000/want0\" op: \"Const\" attr { key: \"dtype\" value { type: "
               "DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape "
               "{} float_val: 42 } } } }\n"
               "node { name: \"c001/op\" op: \"NoOp\" }\n"
               "node { name: \"c001/error\" op: \"NoOp\" attr { key: \"code\" value { s: "
               "\"NOT_FOUND\" } } }\n");
  const std::string plugin = TestPlugin("rogue");
  const Finished crash =
      GraphRun({"check", cases, "--json", "--plugin", plugin + ";ROGUE=compute_segv"});
  EXPECT_EQ(crash.exit, 3) << crash.err;
  const json doc = json::parse(crash.out);
  EXPECT_EQ(doc["cases"][0]["status"], "crashed");
  EXPECT_EQ(doc["cases"][1]["status"], "failed");
  EXPECT_EQ(doc["summary"]["crashed"], 1);
  const Finished ignored =
      GraphRun({.args = {"check", cases, "--json", "--plugin", plugin + ";ROGUE=compute_segv"},
                .ignore_children = true});
  EXPECT_EQ(json::parse(ignored.out)["cases"][0], doc["cases"][0]);
  const Finished hang = GraphRun(
      {"check", cases, "--json", "--timeout", "1", "--plugin", plugin + ";ROGUE=compute_hang"});
  EXPECT_EQ(hang.exit, 3);
  EXPECT_EQ(json::parse(hang.out)["cases"][0]["status"], "crashed");
  EXPECT_EQ(GraphRun({"check", cases, "--plugin", "/nonexistent.so"}).exit, 5);
  // Where no case is to blame, the whole is.
  for (const auto& [kind, exit] :
       {std::pair{"load_segv", 5}, std::pair{"init_exit", 5}, std::pair{"init_hang", 6}}) {
    const Finished dead = GraphRun(
        {"check", cases, "--json", "--timeout", "1", "--plugin", plugin + ";ROGUE=" + kind});
    EXPECT_EQ(dead.exit, exit) << kind << dead.err;
    EXPECT_THAT(dead.err, HasSubstr("ended outside of them")) << kind;
    EXPECT_NE(json::parse(dead.out)["status"]["code"], "OK") << kind;
  }
}

}  // namespace
}  // namespace tenon::testing
