import torch.nn as nn
import torch.nn.functional as F


class GPT(nn.Module):
    def forward(self, tokens, targets):
        logits = self.lm_head(self.blocks(tokens))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))  # want: full-logits-cross-entropy
