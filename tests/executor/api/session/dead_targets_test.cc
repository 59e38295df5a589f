// What runs give when a target or a fetch lies in a branch that was not taken.
#include "tests/executor/api/session/session_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Int;
using testing::IntsOf;
using testing::OpenSession;

// y = -x where p is true, and a node without outputs beside it; z = |x| where it is false.
class CDeadTargets : public testing::GraphFixture {
 protected:
  void SetUp() override {
    x_ = {Placeholder("x"), 0};
    p_ = {Placeholder("p", TF_BOOL), 0};
    TF_Operation* const sw = Binary("Switch", "switch", x_, p_);
    y_ = {Unary("Neg", "y", {sw, 1}), 0};
    z_ = {Unary("Abs", "z", {sw, 0}), 0};
    TF_OperationDescription* const desc = New("NoOp", "nothing");
    TF_AddControlInput(desc, y_.oper);
    nothing_ = Finish(desc);
  }
  OpenSession::Feeds FeedsOf(bool p) {
    const char choice = p ? 1 : 0;
    choice_.reset(TF_AllocateTensor(TF_BOOL, nullptr, 0, 1));
    *static_cast<char*>(TF_TensorData(choice_.get())) = choice;
    return {{x_, seven_.get()}, {p_, choice_.get()}};
  }

  TF_Output x_, p_, y_, z_;
  TF_Operation* nothing_ = nullptr;
  testing::TensorPtr seven_ = Int(7), choice_;
};

TEST_F(CDeadTargets, SucceedInEveryBranch) {
  OpenSession session(g());
  for (const bool p : {false, true}) {
    session.Run({FeedsOf(p), {}, {y_.oper}});
    EXPECT_EQ(TF_OK, session.code()) << session.message();
    session.Run({FeedsOf(p), {}, {nothing_, y_.oper, z_.oper}});
    EXPECT_EQ(TF_OK, session.code()) << session.message();
  }
}

TEST_F(CDeadTargets, LeaveFetchesBesideThemAlone) {
  OpenSession session(g());
  const auto out = session.Run({FeedsOf(false), {z_}, {y_.oper, nothing_}});
  EXPECT_EQ(TF_OK, session.code()) << session.message();
  EXPECT_THAT(IntsOf(out[0].get()), ElementsAre(7));
}

TEST_F(CDeadTargets, FetchesAreErrors) {
  OpenSession session(g());
  session.Run({FeedsOf(false), {y_}, {z_.oper}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_THAT(session.message(), HasSubstr("Retval[0] does not have value"));
}

TEST_F(CDeadTargets, SucceedInPartialRuns) {
  OpenSession session(g());
  const TF_Output inputs[] = {x_, p_};
  const TF_Operation* const targets[] = {y_.oper, nothing_};
  const char* handle = nullptr;
  TF_SessionPRunSetup(session.get(), inputs, 2, &z_, 1, targets, 2, &handle, s());
  ExpectOk();
  const auto feeds = FeedsOf(false);
  TF_Tensor* fed = seven_.get();
  TF_SessionPRun(session.get(), handle, inputs, &fed, 1, nullptr, nullptr, 0, nullptr, 0, s());
  ExpectOk();
  fed = choice_.get();
  TF_Tensor* result = nullptr;
  TF_SessionPRun(session.get(), handle, inputs + 1, &fed, 1, &z_, &result, 1, targets, 2, s());
  ExpectOk();
  const testing::TensorPtr owned(result);
  EXPECT_THAT(IntsOf(result), ElementsAre(7));
  TF_DeletePRunHandle(handle);
}

}  // namespace
}  // namespace tenon
