#include "graph/base/node_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/cord.h"
#include "graph/base/annotate.h"

namespace tenon {
namespace {

TEST(NodeNote, TheInnermostNodeAndItsMessageStay) {
  absl::Status status = NoteNode(absl::OutOfRangeError("too far"), "a/b");
  status = NoteNode(Annotate(status, "node 'a/b': "), "outer");
  EXPECT_EQ(status.message(), "node 'a/b': too far");
  EXPECT_EQ(AsNoted(status), absl::OutOfRangeError("too far\n\t [[{{node a/b}}]]"));
  EXPECT_EQ(AsNoted(status, "a/"), absl::OutOfRangeError("too far\n\t [[{{node b}}]]"));
}

TEST(NodeNote, AnotherAnswerBeforeOrBehindTheNode) {
  const auto answer = [](absl::Status status) {
    return NoteAnswer(std::move(status), absl::StatusCode::kInvalidArgument, "no kernel");
  };
  const absl::Status status = absl::UnimplementedError("there is none");
  const absl::Status wanted = absl::InvalidArgumentError("no kernel\n\t [[{{node n}}]]");
  EXPECT_EQ(AsNoted(NoteNode(answer(status), "n")), wanted);
  EXPECT_EQ(AsNoted(answer(NoteNode(status, "n"))), wanted);
  EXPECT_EQ(AsNoted(answer(status)), absl::InvalidArgumentError("no kernel"));
}

TEST(NodeNote, AnAnswerAloneNamesNoNode) {
  const absl::Status status = NoteAnswerAlone(absl::InvalidArgumentError("no function"),
                                              absl::StatusCode::kNotFound, "Function f is gone");
  EXPECT_EQ(AsNoted(NoteNode(status, "n")), absl::NotFoundError("Function f is gone"));
  EXPECT_TRUE(NoteAnswerAlone(absl::OkStatus(), absl::StatusCode::kInternal, "no").ok());
}

TEST(NodeNote, ErrorsWithoutNotesAndOtherPayloadsStay) {
  EXPECT_TRUE(NoteNode(absl::OkStatus(), "n").ok());
  EXPECT_TRUE(NoteAnswer(absl::OkStatus(), absl::StatusCode::kInternal, "no").ok());
  EXPECT_TRUE(AsNoted(absl::OkStatus()).ok());
  absl::Status status = absl::AbortedError("stop");
  EXPECT_EQ(AsNoted(NoteNode(status, "")), status);
  status.SetPayload("other", absl::Cord("kept"));
  EXPECT_EQ(AsNoted(NoteNode(status, "n")).GetPayload("other"), absl::Cord("kept"));
  EXPECT_TRUE(IsOwnPayload("tenon/node"));
  EXPECT_FALSE(IsOwnPayload("other"));
}

}  // namespace
}  // namespace tenon
