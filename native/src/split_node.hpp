// A node of the search over split sets: a head of splits that are in, a tail of splits that are still open.
//
// Its subtree contains all sets of the head and some splits of the tail. The table is stored as boxes (rows that no set
// of the subtree separates), sorted by their class under the head. Tail and table shrink down the tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "boxes.hpp"
#include "key_table.hpp"
#include "split_sets.hpp"

namespace kohorte {

struct SplitNode {
  std::vector<std::vector<Code>> cuts;  // per attribute: the splits of head and tail; number i ends slot i
  SplitFlags head;
  std::size_t head_size = 0;
  Boxes boxes;
  std::vector<Code> class_of;       // per box, ascending
  std::vector<std::size_t> starts;  // per class, and the end

  std::size_t classes() const { return starts.size() - 1; }
};

// Creates nodes; holds the scratch memory.
class NodeMaker {
 public:
  explicit NodeMaker(const SplitSets& sets) : sets_(sets), mergings_(sets.attributes()) {}

  // The root: no split is chosen, all are open. Of several splits with no row between them only the first is needed: a
  // set with it costs the same, has no more splits and comes no later in lexicographic order.
  SplitNode root() {
    SplitNode all;
    all.head.assign(sets_.splits(), 0);
    all.boxes = sets_.rows();
    all.class_of.assign(all.boxes.size(), 0);
    all.starts = {0, all.boxes.size()};
    all.cuts.resize(sets_.attributes());
    SplitFlags distinct(sets_.splits(), 0);
    for (std::size_t attribute = 0; attribute < sets_.attributes(); ++attribute) {
      SplitFlags has_rows(sets_.size(attribute), 0);
      for (const Code slot : all.boxes.slots[attribute]) has_rows[slot] = 1;
      for (std::size_t cut = 0; cut + 1 < sets_.size(attribute); ++cut) {
        const std::size_t split = sets_.first_split(attribute) + cut;
        all.cuts[attribute].push_back(static_cast<Code>(split));
        distinct[split] = has_rows[cut];
      }
    }
    SplitNode root;
    shrink(all, distinct, root);
    return root;
  }

  // The same head with those splits of the tail that are `open`.
  void shrink(const SplitNode& node, const SplitFlags& open, SplitNode& shrunk) { remake(node, open, kNone, shrunk); }

  // `split` goes into the head, the tail becomes those splits of it that are `open`.
  void extend(const SplitNode& node, const SplitFlags& open, std::size_t split, SplitNode& extended) {
    remake(node, open, split, extended);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  void remake(const SplitNode& node, const SplitFlags& open, std::size_t added, SplitNode& made) {
    made.head = node.head;
    made.head_size = node.head_size;
    if (added != kNone) {
      made.head[added] = 1;
      ++made.head_size;
    }
    made.cuts.resize(sets_.attributes());
    for (std::size_t attribute = 0; attribute < sets_.attributes(); ++attribute) {
      const auto& cuts = node.cuts[attribute];
      const auto stays = [&](std::size_t cut) { return open[cuts[cut]] != 0 || made.head[cuts[cut]] != 0; };
      mergings_[attribute].reset(cuts.size() + 1, stays);
      made.cuts[attribute].clear();
      for (std::size_t cut = 0; cut < cuts.size(); ++cut) {
        if (stays(cut)) made.cuts[attribute].push_back(cuts[cut]);
      }
    }
    numbers_.number(node.boxes, mergings_);
    const std::size_t count = numbers_.count();
    one_of_.resize(count);
    for (std::size_t i = node.boxes.size(); i-- > 0;) one_of_[numbers_.ids()[i]] = i;
    number_classes(node, added, made);
    copy_boxes(node, made);
  }

  // Numbers the classes of `made` and sorts its boxes by class: `place_` is the new index of each box.
  void number_classes(const SplitNode& node, std::size_t added, SplitNode& made) {
    const std::size_t count = numbers_.count();
    classes_.resize(count);
    std::size_t classes = node.classes();
    if (added == kNone) {
      for (std::size_t id = 0; id < count; ++id) classes_[id] = node.class_of[one_of_[id]];
    } else {
      const std::size_t attribute = sets_.attribute_of(added);
      const auto& cuts = node.cuts[attribute];
      const auto cut = std::find(cuts.begin(), cuts.end(), static_cast<Code>(added)) - cuts.begin();
      parts_.assign(2 * classes, std::numeric_limits<Code>::max());
      classes = 0;
      for (std::size_t id = 0; id < count; ++id) {
        const bool above = static_cast<std::ptrdiff_t>(node.boxes.slots[attribute][one_of_[id]]) > cut;
        Code& part = parts_[2 * std::size_t{node.class_of[one_of_[id]]} + (above ? 1 : 0)];
        if (part == std::numeric_limits<Code>::max()) part = static_cast<Code>(classes++);
        classes_[id] = part;
      }
    }
    made.starts.assign(classes + 1, 0);
    for (const Code id : classes_) ++made.starts[id + std::size_t{1}];
    std::partial_sum(made.starts.begin(), made.starts.end(), made.starts.begin());
    next_.assign(made.starts.begin(), made.starts.end() - 1);
    place_.resize(count);
    for (std::size_t id = 0; id < count; ++id) place_[id] = next_[classes_[id]]++;
  }

  void copy_boxes(const SplitNode& node, SplitNode& made) {
    const std::size_t count = numbers_.count(), labels = sets_.label_count();
    made.class_of.resize(count);
    for (std::size_t id = 0; id < count; ++id) made.class_of[place_[id]] = classes_[id];
    made.boxes.slots.resize(sets_.attributes());
    for (std::size_t attribute = 0; attribute < sets_.attributes(); ++attribute) {
      auto& slots = made.boxes.slots[attribute];
      slots.resize(count);
      const auto& old = node.boxes.slots[attribute];
      for (std::size_t id = 0; id < count; ++id) slots[place_[id]] = mergings_[attribute].slots[old[one_of_[id]]];
    }
    made.boxes.people.assign(count, 0);
    made.boxes.labels.assign(count * labels, 0);
    for (std::size_t i = 0; i < node.boxes.size(); ++i) {
      const std::size_t place = place_[numbers_.ids()[i]];
      made.boxes.people[place] += node.boxes.people[i];
      for (std::size_t label = 0; label < labels; ++label) {
        made.boxes.labels[place * labels + label] += node.boxes.labels[i * labels + label];
      }
    }
  }

  const SplitSets& sets_;
  BoxNumbers numbers_;
  std::vector<Merging> mergings_;
  std::vector<std::size_t> one_of_, place_, next_;
  std::vector<Code> classes_, parts_;
};

}  // namespace kohorte
