#include "emulator/rules.hpp"

namespace megakittens::emulator {
namespace {

// In the order of Rule.
constexpr RuleText kTexts[] = {
    {"unwaited-load", 1, "data of a bulk load is used without waiting for the mbarrier phase it completes on"},
    {"page-overwritten", 2, "shared memory is overwritten while an earlier reader may still need it"},
    {"reader-fence", 2,
     "a strict build wants fence.proxy.async.shared::cta by each ordinary reader before the bulk load"},
    {"writer-fence", 3,
     "ordinary stores need fence.proxy.async.shared::cta by the writer before a bulk load overwrites them"},
    {"released-under-wgmma", 4,
     "shared memory is overwritten before wgmma.wait_group retired the products that read it"},
    {"released-under-tcgen05", 5,
     "shared memory is overwritten before tcgen05.commit reported the products that read it"},
    {"proxy-fence-shared", 6,
     "ordinary shared stores need fence.proxy.async.shared::cta by the writer before the async proxy reads them"},
    {"released-under-store", 7,
     "shared memory is overwritten before cp.async.bulk.wait_group.read of the store that reads it"},
    {"store-not-complete", 8,
     "a bulk store is published before cp.async.bulk.wait_group (not .read) by the storing thread"},
    {"proxy-fence-global-async", 9,
     "a bulk store of another CTA needs fence.proxy.async.global after the acquire before the async proxy touches it"},
    {"not-released", 10, "stores of another CTA are used without a release and an acquire between"},
    {"proxy-fence-global", 11,
     "ordinary global stores need fence.proxy.async.global after the acquire before the async proxy touches them"},
    {"reused-under-reader", 12, "global memory is overwritten while an earlier reader may still need it"},
    {"reduction-mixed", 13, "a bulk reduction meets another access of the same words without an order"},
    {"barrier-not-published", 14, "an mbarrier is used by someone who may not see its init"},
    {"barrier-misuse", 15, "an mbarrier is used against its rules"},
    {"cluster-scope", 16, "shared memory of the cluster is touched without a release and an acquire at cluster scope"},
    {"tensor-map-fence", 18, "a tensor map in global memory is used without fence.proxy.tensormap"},
    {"tensor-not-committed", 19, "tensor memory is read without waiting for the commit of the products that write it"},
    {"tensor-reused", 20,
     "tensor memory is written before wait, fence::before_thread_sync, hand-over and fence::after_thread_sync of an "
     "earlier access"},
    {"cluster-exit", 24, "a CTA of a cluster left while its memory was still in use"},
    {"accumulator-in-flight", 25,
     "wgmma registers are touched between issue and wait_group, or wgmma.fence is missing"},
    {"multicast-token", 26, "a multicast overwrites a peer's page without holding its token"},
    {"ordinary-race", 0, "two ordinary accesses of one CTA conflict without a barrier between them"},
    {"constant-written", 0, "bytes read by ld.global.nc are written during the kernel"},
    {"lapped-waiter", 0, "an mbarrier went through two phases while a warp waited for one: parity cannot tell"},
    {"unwritten", 0, "memory is read that nothing has written"},
    {"out-of-bounds", 0, "an access lies outside every registered buffer"},
    {"barrier-overwritten", 15, "the bytes of a live mbarrier are written by something else"},
    {"named-barrier-misuse", 0, "a named barrier is used against its rules"},
    {"tensor-memory-misuse", 0, "tensor memory is used against its rules"},
    {"bad-operand", 0, "the hardware refuses such an operand"},
    {"unfinished", 0, "a warp left with asynchronous work of its own still running"},
    {"undeclared", 0, "an instruction touches memory that its type does not declare"},
};

}  // namespace

const RuleText& text_of(Rule rule) {
  static_assert(sizeof(kTexts) / sizeof(kTexts[0]) == static_cast<int>(Rule::kUndeclared) + 1);
  return kTexts[static_cast<int>(rule)];
}

bool is_about_order(Rule rule) {
  switch (rule) {
    case Rule::kBarrierNotPublished:
    case Rule::kBarrierMisuse:
    case Rule::kTensorMapFence:
    case Rule::kClusterExit:
    case Rule::kConstantWritten:
    case Rule::kOutOfBounds:
    case Rule::kBarrierOverwritten:
    case Rule::kNamedBarrierMisuse:
    case Rule::kTensorMemoryMisuse:
    case Rule::kBadOperand:
    case Rule::kUnfinished:
    case Rule::kUndeclared:
      return false;
    default:
      return true;
  }
}

}  // namespace megakittens::emulator
