from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def either(name, checkpointing):
    model = AutoModelForCausalLM.from_pretrained(name)
    if checkpointing:
        model.gradient_checkpointing_enable()
        model.config.use_cache = False
    else:
        model.config.use_cache = True
    return model


def computed(model, args):
    model.config.use_cache = not args.gradient_checkpointing
    if args.gradient_checkpointing:
        model.gradient_checkpointing_enable()


def two(policy, reference, data):
    policy.gradient_checkpointing_enable()
    policy.config.use_cache = False
    reference.config.use_cache = True
    return policy.generate(data, use_cache=True)


def after(model, args, data):
    model.gradient_checkpointing_enable()
    trainer = Trainer(model, args, train_dataset=data)
    trainer.train()
    model.config.use_cache = True


def sampling(model, prompts):
    model.gradient_checkpointing_disable()
    model.config.use_cache = True
    out = model.generate(prompts)
    model.config.use_cache = False
    model.gradient_checkpointing_enable()
    return out


def serve(name):
    return AutoModelForCausalLM.from_pretrained(name, use_cache=True)


def train(name, data):
    model = AutoModelForCausalLM.from_pretrained(name)
    args = TrainingArguments("out", gradient_checkpointing=True)
    Trainer(model, args, train_dataset=data).train()
