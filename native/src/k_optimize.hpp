// k-Optimize: the optimal split set (Bayardo and Agrawal, Data Privacy through Optimal k-Anonymization, ICDE 2005).
//
// A depth-first search over all split sets: a node chooses a split, explores all sets with it, then all without it.
// From the paper: the cost bound, useless values, and the tail, which is pruned by looking one split ahead and is
// reordered at every node. Added here (split_bounds.hpp): conflicts, which prune a tail two splits ahead; a bound from
// neighbouring boxes; a suppression limit that follows from the best cost; and a start set from hill climbing.
//
// Among sets of equal cost, the one with fewer splits is better, then the lexicographically first. A subtree is
// excluded only if all its sets, except the head, which has been evaluated, are worse in this order.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "split_bounds.hpp"
#include "split_node.hpp"
#include "split_sets.hpp"

namespace kohorte {

struct Optimum {
  SplitFlags best;
  Count cost = 0;
  Count lower_bound = 0;  // no feasible set costs less
  bool complete = false;
  std::int64_t visited = 0;
};

class KOptimize {
 public:
  // Told of nodes visited, the best cost and the lower bound; returns whether to go on.
  using Watch = std::function<bool(std::int64_t, Count, Count)>;

  KOptimize(const SplitSets& sets, std::span<const std::uint8_t> start, double seconds, Watch watch,
            double seconds_between_reports = 0.2)
      : sets_(sets),
        maker_(sets),
        bounds_(sets),
        watch_(std::move(watch)),
        begun_(Clock::now()),
        seconds_(seconds),
        seconds_between_reports_(seconds_between_reports) {
    if (!(seconds >= 0)) throw std::invalid_argument("no such time");
    const SplitSets::Result result = sets.result(start);
    if (result.suppressed > sets.limit()) throw std::invalid_argument("the start suppresses too many people");
    best_.best.resize(start.size());
    std::ranges::transform(start, best_.best.begin(), [](std::uint8_t flag) { return flag != 0 ? 1 : 0; });
    best_.cost = result.cost;
    best_size_ = count(best_.best);
  }

  Optimum run(bool climb_first = true) {
    SplitNode root = maker_.root();
    pending_.push_back(bounds_.published_bound(root).cost);
    if (climb_first) climb();
    if (!stopped_) explore(root);
    best_.complete = !stopped_;
    best_.lower_bound = stopped_ ? lower_bound() : best_.cost;
    return best_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Count kNothingLeft = std::numeric_limits<Count>::max();
  // These numbers are our own choice. They affect the time of the search, never its result.
  static constexpr int kClimbs = 300;
  static constexpr int kClimbsInVain = 60;
  static constexpr double kTimeToClimb = 0.1;  // of all seconds
  static constexpr double kMostSecondsToClimb = 20;
  static constexpr double kLimitWorthLowering = 0.9;  // conflicts are computed again if the limit falls by this factor
  static constexpr double kLookAheadFrom = 0.5;  // bound / best cost; below it, looking ahead rarely prunes

  static std::size_t count(const SplitFlags& flags) {
    return static_cast<std::size_t>(std::ranges::count_if(flags, [](std::uint8_t flag) { return flag != 0; }));
  }

  // Remembers a feasible set if it is better.
  void consider(const SplitFlags& chosen, Count cost) {
    if (cost > best_.cost) return;
    const std::size_t size = count(chosen);
    // of two sets of equal size, the first is the one that contains the first split in which they differ
    if (cost < best_.cost || size < best_size_ || (size == best_size_ && chosen > best_.best)) {
      best_.best = chosen;
      best_.cost = cost;
      best_size_ = size;
    }
  }

  // Whether no set that costs at least `bound` and has more splits than `head_size` can be better.
  bool hopeless(Count bound, std::size_t head_size) const {
    return bound > best_.cost || (bound == best_.cost && head_size >= best_size_);
  }

  // A bound for the unexplored sets: at every level of the tree, those outside the subtree being explored.
  Count lower_bound() {
    const Count least = *std::ranges::min_element(pending_);
    proven_ = std::max(proven_, std::min(least, best_.cost));
    return proven_;
  }

  // Checks the time limit; returns whether to continue.
  bool go_on() {
    if (stopped_) return false;
    const double elapsed = std::chrono::duration<double>(Clock::now() - begun_).count();
    if (elapsed >= seconds_) {
      stop();
    } else if (watch_ && elapsed >= next_report_) {
      if (!watch_(best_.visited, best_.cost, lower_bound())) stop();
      next_report_ = std::chrono::duration<double>(Clock::now() - begun_).count() + seconds_between_reports_;
    }
    return !stopped_;
  }

  void stop() {
    lower_bound();
    stopped_ = true;
  }

  // --- hill climbing ---------------------------------------------------------------------------------------------

  // Improves the start set: adds random splits, removes the most expensive ones until the set is feasible, then changes
  // single splits while that helps. The random numbers are the same in every run.
  void climb() {
    if (sets_.splits() == 0) return;
    std::minstd_rand random(1);
    SplitFlags chosen = best_.best;
    int in_vain = 0;
    for (int round = 0; round < kClimbs && in_vain < kClimbsInVain; ++round) {
      const double elapsed = std::chrono::duration<double>(Clock::now() - begun_).count();
      if (elapsed > std::min(kTimeToClimb * seconds_, kMostSecondsToClimb)) return;
      if (round == 1) std::ranges::fill(chosen, std::uint8_t{1});
      for (std::size_t i = 0; round > 1 && i < 2 + static_cast<std::size_t>(round) % 12; ++i) {
        chosen[random() % chosen.size()] = 1;
      }
      const Count before = best_.cost;
      if (!coarsen(chosen) || !refine(chosen)) return;
      in_vain = best_.cost < before ? 0 : in_vain + 1;
      chosen = best_.best;
    }
  }

  // Removes splits: first those whose removal lowers the cost most; then, while too many people are suppressed, those
  // with the lowest cost per person who is no longer suppressed.
  bool coarsen(SplitFlags& chosen) {
    SplitSets::Result now = sets_.result(chosen);
    while (go_on()) {
      const auto [costs, gone] = sets_.neighbours(chosen);
      const auto better = [&, &costs = costs, &gone = gone](std::size_t split, std::size_t other) {
        if (costs[split] < now.cost || costs[other] < now.cost) return costs[split] < costs[other];
        const auto dearer = [&](std::size_t one) { return static_cast<double>(costs[one] - now.cost + 1); };
        const auto fewer = [&](std::size_t one) { return static_cast<double>(now.suppressed - gone[one]); };
        return fewer(split) * dearer(other) > fewer(other) * dearer(split);
      };
      std::size_t best = chosen.size();
      for (std::size_t split = 0; split < chosen.size(); ++split) {
        if (chosen[split] != 0 && (best == chosen.size() || better(split, best))) best = split;
      }
      if (best == chosen.size() || (now.suppressed <= sets_.limit() && costs[best] >= now.cost)) return true;
      chosen[best] = 0;
      now.cost = costs[best];
      now.suppressed = gone[best];
    }
    return false;
  }

  // From a feasible set: repeatedly changes the split that lowers the cost most, or removes a split that has no
  // effect.
  bool refine(SplitFlags& chosen) {
    Count cost = sets_.result(chosen).cost;
    while (go_on()) {
      consider(chosen, cost);
      const auto [costs, gone] = sets_.neighbours(chosen);
      std::size_t best = chosen.size();
      for (std::size_t split = 0; split < chosen.size(); ++split) {
        const bool useless = costs[split] == cost && best == chosen.size() && chosen[split] != 0;
        const bool better = costs[split] < cost || useless;
        if (gone[split] > sets_.limit() || !better) continue;
        cost = costs[split];
        best = split;
      }
      if (best == chosen.size()) return true;
      chosen[best] ^= 1;
    }
    return false;
  }

  // --- the tree --------------------------------------------------------------------------------------------------

  // Explores a subtree; the last element of `pending_` is a bound for it. The node is consumed.
  void explore(SplitNode& node) {
    ++best_.visited;
    Effects effects;
    bounds_.effects(node, effects);
    if (effects.head.suppressed > sets_.limit()) return;
    consider(node.head, effects.head.cost);
    SplitFlags open = tail(node);
    // If a split cuts no kept class, or leaves only parts below k, the same is true in the whole subtree: no set is
    // cheaper with it. And suppression only grows.
    const auto useless = [&](std::size_t split) {
      return effects.leaves_a_class[split] == 0 || effects.suppressed[split] > sets_.limit();
    };
    if (!drop(node, open, useless)) return;
    const Bound bound = bounds_.published_bound(node);
    if (hopeless(bound.cost, node.head_size)) return;
    const Count limit = bound.suppression_within(sets_, best_.cost, effects.head.suppressed);
    if (!drop(node, open, [&](std::size_t split) { return effects.suppressed[split] > limit; })) return;
    branch(node, open, effects, limit);
  }

  // Chooses the splits of the tail one after the other. A set that suppresses more than `limit` is not better.
  void branch(SplitNode& node, SplitFlags& open, const Effects& effects, Count limit) {
    const std::size_t level = pending_.size() - 1;
    const Count gone = effects.head.suppressed;
    Conflicts conflicts;
    bounds_.conflicts(node, gone, limit, conflicts);
    std::vector<Count> without;
    SplitNode child;
    while (true) {
      const Bound bound = bounds_.bound(node, conflicts, &without);
      pending_[level] = std::max(pending_[level], bound.cost);
      if (hopeless(bound.cost, node.head_size) || !go_on()) return;
      const Count within = bound.suppression_within(sets_, best_.cost, gone);
      if (static_cast<double>(within - gone) < kLimitWorthLowering * static_cast<double>(limit - gone)) {
        limit = within;
        if (!drop(node, open, [&](std::size_t split) { return effects.suppressed[split] > limit; })) return;
        bounds_.conflicts(node, gone, limit, conflicts);
        continue;
      }
      if (static_cast<double>(bound.cost) >= kLookAheadFrom * static_cast<double>(best_.cost)) {
        const std::size_t before = count(open);
        const SplitFlags hopeful = look_ahead(node, open, conflicts);
        if (stopped_ || !drop(node, open, [&](std::size_t split) { return hopeful[split] == 0; })) return;
        if (count(open) < before) continue;
      }
      const std::size_t split = next_split(open, effects, without);
      maker_.extend(node, compatible(open, conflicts, split), split, child);
      // The sets without the split remain, unless it is needed.
      const bool needed = hopeless(without[split], node.head_size);
      pending_[level] = needed ? kNothingLeft : std::max(pending_[level], without[split]);
      pending_.push_back(bound.cost);
      explore(child);
      if (stopped_) return;
      pending_.pop_back();
      if (needed || !drop(node, open, [&](std::size_t other) { return other == split; })) return;
    }
  }

  // The published order is by the number of classes cut; splits without which the bound is high come first here.
  std::size_t next_split(const SplitFlags& open, const Effects& effects, const std::vector<Count>& without) const {
    std::size_t best = open.size();
    for (std::size_t split = 0; split < open.size(); ++split) {
      if (open[split] == 0) continue;
      if (best == open.size() || without[split] > without[best] ||
          (without[split] == without[best] && effects.classes_split[split] > effects.classes_split[best])) {
        best = split;
      }
    }
    return best;
  }

  // The splits of a tail whose subtrees may contain something better.
  SplitFlags look_ahead(const SplitNode& node, const SplitFlags& open, const Conflicts& conflicts) {
    SplitFlags hopeful = open;
    for (std::size_t split = 0; split < open.size() && go_on(); ++split) {
      if (open[split] == 0) continue;
      maker_.extend(node, compatible(hopeful, conflicts, split), split, ahead_);
      if (hopeless(bounds_.published_bound(ahead_).cost, node.head_size) ||
          hopeless(bounds_.bound(ahead_, conflicts, nullptr).cost, node.head_size)) {
        hopeful[split] = 0;
      }
    }
    return hopeful;
  }

  SplitFlags tail(const SplitNode& node) const {
    SplitFlags open(sets_.splits(), 0);
    for (const auto& cuts : node.cuts) {
      for (const Code split : cuts) open[split] = node.head[split] == 0 ? 1 : 0;
    }
    return open;
  }

  static SplitFlags compatible(SplitFlags open, const Conflicts& conflicts, std::size_t with) {
    for (std::size_t split = 0; split < open.size(); ++split) {
      if (split == with || conflicts.between(split, with)) open[split] = 0;
    }
    return open;
  }

  // Removes splits from the tail; returns whether any remain.
  template <typename Unwanted>
  bool drop(SplitNode& node, SplitFlags& open, Unwanted unwanted) {
    bool changed = false, left = false;
    for (std::size_t split = 0; split < open.size(); ++split) {
      if (open[split] == 0) continue;
      if (unwanted(split)) {
        open[split] = 0;
        changed = true;
      } else {
        left = true;
      }
    }
    if (changed && left) {
      maker_.shrink(node, open, shrunk_);
      std::swap(node, shrunk_);
    }
    return left;
  }

  const SplitSets& sets_;
  NodeMaker maker_;
  NodeBounds bounds_;
  Watch watch_;
  Clock::time_point begun_;
  double seconds_;
  double seconds_between_reports_;
  double next_report_ = 0;
  bool stopped_ = false;
  Optimum best_;
  std::size_t best_size_ = 0;
  Count proven_ = 0;
  std::vector<Count> pending_;  // per level: a bound for the unexplored sets
  SplitNode ahead_, shrunk_;
};

}  // namespace kohorte
