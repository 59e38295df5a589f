// The document that --json writes where a plug-in ends the process.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing::fault_document_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// A file may have a name that is no text; the document is one all the same.
TEST(FaultDocument, IsTextWhateverTheNameOfThePlugin) {
  const std::string plugin = TempPath("rogue_\xff\xc3.so");
  std::filesystem::copy_file(TestPlugin("rogue"), plugin,
                             std::filesystem::copy_options::overwrite_existing);
  const std::string graph =
      TempFile("fault_document.pbtxt", "node { name: 'the_node' op: 'RogueOp' }\n");
  const Finished run =
      GraphRun({"run", graph, "--json", "--plugin", plugin + ";ROGUE=compute_segv"});
  EXPECT_EQ(run.exit, 5) << run.err;
  const json doc = json::parse(run.out, nullptr, false);
  ASSERT_FALSE(doc.is_discarded()) << run.out;
  EXPECT_THAT(doc["status"]["message"].get<std::string>(),
              HasSubstr("rogue_\xef\xbf\xbd\xef\xbf\xbd.so"));
}

}  // namespace
}  // namespace tenon::testing::fault_document_test
