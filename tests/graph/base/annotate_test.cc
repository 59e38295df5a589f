// More words for an error take nothing away from it.
#include "graph/base/annotate.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Annotate, KeepsCodeAndPayloads) {
  absl::Status status = absl::DataLossError("it is short");
  status.SetPayload("tenon/exit", absl::Cord("4"));
  status.SetPayload("tenon/other", absl::Cord(""));
  const absl::Status annotated = Annotate(status, "file x: ", " (of two)");
  EXPECT_EQ(annotated.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(annotated.message(), "file x: it is short (of two)");
  EXPECT_EQ(annotated.GetPayload("tenon/exit"), absl::Cord("4"));
  EXPECT_TRUE(annotated.GetPayload("tenon/other").has_value());
  EXPECT_EQ(Annotate(status, "before ").message(), "before it is short");
}

TEST(Annotate, OkStaysOk) { EXPECT_EQ(Annotate(absl::OkStatus(), "x: ", "y"), absl::OkStatus()); }

}  // namespace
}  // namespace tenon
